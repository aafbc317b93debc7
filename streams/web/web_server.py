"""The web application: its routes, limits of connections, and assets."""

import asyncio
import hashlib
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib.resources import files
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from aiohttp.web import RequestHandler
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from streams.observability.health import Health
from streams.pause.pause_state import PauseState
from streams.settings import DeskSettings, InvalidSettings, Settings, WebSettings
from streams.web.live_data import LiveData, ResponseCache
from streams.web.page_api import PageApi

_FILES: Final = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


def add_assets(pages: web.Application) -> None:
    """Serve the files, each at its own address: no path of a request ever names a file."""
    for address, (name, content_type) in _FILES.items():
        body = (files(__package__) / "assets" / name).read_bytes()
        pages.router.add_get(address, _serving(body, content_type))


def _serving(body: bytes, content_type: str) -> Callable[[web.Request], Awaitable[web.Response]]:
    etag = hashlib.sha256(body).hexdigest()[:32]

    async def serve(request: web.Request) -> web.Response:
        # Asked for each time, so that the page fits its worker after an update.
        headers = {"Cache-Control": "no-cache", "ETag": f'"{etag}"'}
        if any(known.value in {etag, "*"} for known in request.if_none_match or ()):
            return web.Response(status=304, headers=headers)
        return web.Response(body=body, content_type=content_type, charset="utf-8", headers=headers)

    return serve


MAX_CONNECTIONS = 512
IDLE_TIMEOUT_SECONDS = 30.0


class Connections:
    """Creates the server's connections, and closes idle ones.

    A connection is closed if its client sends no complete request, or does not read its response, for
    ``idle_timeout`` seconds. At ``max_connections``, the connection that has been idle longest is closed for
    the next one, so that a probe always gets in. A connection whose request is in progress stays open.

    Args:
        make: creates the handler of a connection.
        max_connections: how many may be open at once.
        idle_timeout: in seconds.
        clock: monotonic, in seconds.
    """

    def __init__(
        self,
        make: Callable[[], RequestHandler],
        max_connections: int = MAX_CONNECTIONS,
        idle_timeout: float = IDLE_TIMEOUT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make = make
        self._max_connections = max_connections
        self._idle_timeout = idle_timeout
        self._clock = clock
        self._heard_at: dict[RequestHandler, float] = {}  # the quietest first
        self._at_work: set[RequestHandler] = set()

    def open(self) -> RequestHandler:
        """Create a connection; close an idle one, or the oldest, if there are too many."""
        while len(self._heard_at) >= self._max_connections:
            waiting = (each for each in self._heard_at if each not in self._at_work)
            self._cut_off(next(waiting, next(iter(self._heard_at))))
        connection = self._make()
        self._heard_at[connection] = self._clock()
        return connection

    def touch(self, connection: RequestHandler) -> None:
        """Record that a whole request arrived."""
        if self._heard_at.pop(connection, None) is not None:
            self._heard_at[connection] = self._clock()

    @contextmanager
    def busy(self, connection: RequestHandler) -> Iterator[None]:
        """Protect a connection from closing while its request is processed, which has its own timeout."""
        self.touch(connection)
        self._at_work.add(connection)
        try:
            yield
        finally:
            self._at_work.discard(connection)
            self.touch(connection)

    def sweep(self) -> None:
        """Close connections that have been idle for too long, and forget closed ones."""
        now = self._clock()
        for connection, heard_at in list(self._heard_at.items()):
            if now - heard_at > self._idle_timeout and connection not in self._at_work:
                self._cut_off(connection)
            elif connection.transport is None and now > heard_at:
                del self._heard_at[connection]

    def _cut_off(self, connection: RequestHandler) -> None:
        del self._heard_at[connection]
        if connection.transport is not None:
            connection.transport.abort()


_SWEEP_SECONDS = 1.0
#: Addresses that are listened on and cannot be asked.
_WILDCARD_HOSTS = ("", "0.0.0.0", "::")  # noqa: S104 - nothing listens here


@asynccontextmanager
async def serve(
    pages: web.Application, settings: WebSettings | DeskSettings, section: str = "web"
) -> AsyncIterator[int]:
    """Serve the pages while the context lasts; yields the port, a free one if port 0 is set.

    ``section`` is that of the settings, for messages.

    Raises:
        InvalidSettings: the address cannot be bound.
    """
    runner = web.AppRunner(
        pages,
        access_log=None,
        shutdown_timeout=1,
        keepalive_timeout=IDLE_TIMEOUT_SECONDS / 2,
        # No page reads a compressed body, and one that only says to be compressed would break its connection.
        auto_decompress=False,
    )
    connections = Connections(lambda: _new_handler(runner))
    pages.middlewares.append(_track_activity(connections))
    await runner.setup()
    try:
        server = await _listen(connections, settings, section)
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


def _new_handler(runner: web.AppRunner) -> web.RequestHandler:
    assert runner.server is not None  # there is one since the setup
    return runner.server()


async def _listen(
    connections: Connections, settings: WebSettings | DeskSettings, section: str
) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    try:
        return await loop.create_server(connections.open, settings.host, settings.port)
    except OSError as error:
        raise InvalidSettings(
            f"{section}.host {settings.host}, {section}.port {settings.port}: {error.strerror}"
        ) from error


def _track_activity(connections: Connections) -> Middleware:
    @web.middleware
    async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
        with connections.busy(request.protocol):
            return await handler(request)

    return note


async def _sweep(connections: Connections) -> None:
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        connections.sweep()


def page_url(host: str, port: int) -> str:
    """Return the address of the pages; with this machine's name if they are served on all interfaces."""
    named = socket.gethostname() if host in _WILDCARD_HOSTS else host
    return f"http://[{named}]:{port}/" if ":" in named else f"http://{named}:{port}/"


_MAX_REQUEST_BYTES = 1024 * 1024
ResponseHandler = Callable[[web.Request], Awaitable[web.Response]]

# Nothing runs or is shown that does not come from this worker, and no text becomes markup.
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def create_web_app(
    health: Health,
    registry: CollectorRegistry,
    settings: Settings | None = None,
    pause_state: PauseState | None = None,
    clock: Callable[[], float] = time.monotonic,
    max_request_bytes: int = _MAX_REQUEST_BYTES,
) -> web.Application:
    """Build the pages.

    ``/healthz`` and ``/readyz`` (200 or 503 with the reason; 200 with what is impaired, too), ``/metrics``;
    and with ``settings``, unless ``web.page`` is off, the page for people at ``/`` with its data under
    ``/api/``. ``pause_state`` has the pauses by operators. ``clock``, monotonic, says how old the
    text of ``/metrics`` is.
    """
    pages = web.Application(client_max_size=max_request_bytes)
    pages.on_response_prepare.append(_protect)
    pages.router.add_get("/healthz", _probe(health.failure))
    pages.router.add_get("/readyz", _probe(lambda: health.unready_reason, lambda: health.impairments))
    pages.router.add_get("/metrics", _metrics(registry, ResponseCache(clock)))
    if settings and settings.web.page:
        data = LiveData(settings)
        add_assets(pages)
        PageApi(data, health, settings, pause_state or PauseState()).add_to(pages)
        pages.cleanup_ctx.append(_stopping(data))
    return pages


def _probe(
    problem: Callable[[], object | None], impaired: Callable[[], Iterable[str]] = tuple
) -> ResponseHandler:
    async def answer(_: web.Request) -> web.Response:
        if found := problem():
            return web.Response(status=503, text=f"{found}\n")
        return web.Response(text="\n".join(["ok", *(f"but {each}" for each in impaired()), ""]))

    return answer


def _metrics(registry: CollectorRegistry, kept: ResponseCache) -> ResponseHandler:
    async def answer(_: web.Request) -> web.Response:
        body = kept.body(("metrics",), lambda: generate_latest(registry))
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

    return answer


def _stopping(data: LiveData) -> Callable[[web.Application], AsyncIterator[None]]:
    async def context(_: web.Application) -> AsyncIterator[None]:
        yield
        await data.stop()

    return context


async def _protect(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(_HEADERS)
