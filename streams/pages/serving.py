"""Serving the pages: the address, and a limit on what clients can hold."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from streams.pages.connections import PATIENCE_SECONDS, Connections
from streams.settings import WebSettings, WrongSettings

_SWEEP_SECONDS = 1.0
#: Addresses that are listened on and cannot be asked.
_EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - nothing listens here


@asynccontextmanager
async def serve(pages: web.Application, settings: WebSettings) -> AsyncIterator[int]:
    """Serve the pages while the context lasts; yields the port, which differs where 0 was asked for.

    Raises:
        WrongSettings: the address cannot be bound.
    """
    runner = web.AppRunner(
        pages,
        access_log=None,
        shutdown_timeout=1,
        keepalive_timeout=PATIENCE_SECONDS / 2,
        # No page reads a compressed body, and one that only says to be compressed would break its connection.
        auto_decompress=False,
    )
    connections = Connections(lambda: _end_of(runner))
    pages.middlewares.append(_noting(connections))
    await runner.setup()
    try:
        server = await _listen(connections, settings)
        sweeping = asyncio.create_task(_sweep(connections), name="pages-sweep")
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            sweeping.cancel()
            with suppress(asyncio.CancelledError):
                await sweeping
    finally:
        await runner.cleanup()


def _end_of(runner: web.AppRunner) -> web.RequestHandler:
    assert runner.server is not None  # there is one since the setup
    return runner.server()


async def _listen(connections: Connections, settings: WebSettings) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    try:
        return await loop.create_server(connections.open, settings.host, settings.port)
    except OSError as error:
        raise WrongSettings(
            f"web.host {settings.host}, web.port {settings.port}: {error.strerror}"
        ) from error


def _noting(connections: Connections) -> Middleware:
    @web.middleware
    async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
        with connections.at_work(request.protocol):
            return await handler(request)

    return note


async def _sweep(connections: Connections) -> None:
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        connections.sweep()


def address_of(host: str, port: int) -> str:
    """Give where the pages are; those that are served everywhere, by the name of this machine."""
    named = socket.gethostname() if host in _EVERYWHERE else host
    return f"http://[{named}]:{port}/" if ":" in named else f"http://{named}:{port}/"
