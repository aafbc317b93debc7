"""What the worker serves over HTTP: health, readiness and metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from streams.health import Health
from streams.settings import WebSettings, WrongSettings


def create_pages(health: Health, registry: CollectorRegistry) -> web.Application:
    """Build the pages: ``/healthz`` and ``/readyz`` (200 or 503 with the reason), ``/metrics``."""
    pages = web.Application()
    pages.router.add_get("/healthz", _probe(health.problem))
    pages.router.add_get("/readyz", _probe(lambda: health.problem() or health.not_ready))

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    pages.router.add_get("/metrics", metrics)
    return pages


@asynccontextmanager
async def serve(pages: web.Application, settings: WebSettings) -> AsyncIterator[int]:
    """Serve the pages while the context lasts; yields the port, which differs where 0 was asked for.

    Raises:
        WrongSettings: the address cannot be bound.
    """
    runner = web.AppRunner(pages, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, settings.host, settings.port).start()
        except OSError as error:
            raise WrongSettings(
                f"web.host {settings.host}, web.port {settings.port}: {error.strerror}"
            ) from error
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _probe(problem: Callable[[], str | None]) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(_: web.Request) -> web.Response:
        found = problem()
        return web.Response(status=503 if found else 200, text=f"{found or 'ok'}\n")

    return answer
