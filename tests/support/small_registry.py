"""A schema registry for tests: the part of Confluent's REST protocol that we use, and faults."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def served(registry: SmallRegistry) -> AsyncIterator[str]:
    """Serve a registry on the loopback; gives its URL."""
    runner = web.AppRunner(registry.application(), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/base"
    await runner.cleanup()


class SmallRegistry:
    """Subjects with their versions, ids over all of them, and faults on demand."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.types: dict[int, str] = {}
        self.subjects: dict[str, list[int]] = {}
        self.calls: list[str] = []
        self.credentials: set[str | None] = set()
        self.read_only = False
        self.fault: Handler | None = None
        self._next_id = itertools.count(100_001)

    def add(self, schema: str, schema_type: str = "AVRO") -> int:
        if schema not in self.ids:
            self.ids[schema] = next(self._next_id)
            self.types[self.ids[schema]] = schema_type
        return self.ids[schema]

    def application(self) -> web.Application:
        application = web.Application(middlewares=[self._before])
        application.router.add_post("/base/subjects/{subject}", self._find)
        application.router.add_post("/base/subjects/{subject}/versions", self._register)
        application.router.add_get(r"/base/schemas/ids/{id:\d+}", self._by_id)
        return application

    @web.middleware
    async def _before(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.calls.append(f"{request.method} {request.path}")
        self.credentials.add(request.headers.get("Authorization"))
        return await (self.fault or handler)(request)

    async def _find(self, request: web.Request) -> web.Response:
        schema = (await request.json())["schema"]
        subject = request.match_info["subject"]
        if self.ids.get(schema) not in self.subjects.get(subject, []):
            return web.json_response({"error_code": 40403, "message": "Schema not found"}, status=404)
        return web.json_response({"subject": subject, "version": 1, "id": self.ids[schema], "schema": schema})

    async def _register(self, request: web.Request) -> web.Response:
        if self.read_only:
            return web.json_response({"error_code": 40301, "message": "read only"}, status=403)
        schema = (await request.json())["schema"]
        self.subjects.setdefault(request.match_info["subject"], []).append(self.add(schema))
        return web.json_response({"id": self.ids[schema]})

    async def _by_id(self, request: web.Request) -> web.Response:
        wanted = int(request.match_info["id"])
        for schema, schema_id in self.ids.items():
            if schema_id == wanted:
                return web.json_response({"schema": schema, "schemaType": self.types[schema_id]})
        return web.json_response({"error_code": 40403, "message": "Schema not found"}, status=404)
