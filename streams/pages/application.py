"""The pages and where they are."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from streams.health import Health
from streams.holds.board import HoldBoard
from streams.pages.api import Api
from streams.pages.assets import add_assets
from streams.pages.kept import Kept
from streams.pages.live import LiveData
from streams.settings import Settings

Answer = Callable[[web.Request], Awaitable[web.Response]]

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


def create_pages(
    health: Health,
    registry: CollectorRegistry,
    settings: Settings | None = None,
    board: HoldBoard | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> web.Application:
    """Build the pages.

    ``/healthz`` and ``/readyz`` (200 or 503 with the reason; 200 with what is impaired, too), ``/metrics``;
    and with ``settings``, unless ``web.page`` is off, the page for people at ``/`` with its data under
    ``/api/``. ``board`` has what operators hold back from being sent. ``clock``, monotonic, says how old the
    text of ``/metrics`` is.
    """
    pages = web.Application()
    pages.on_response_prepare.append(_protect)
    pages.router.add_get("/healthz", _probe(health.problem))
    pages.router.add_get("/readyz", _probe(lambda: health.not_ready, lambda: health.impaired))
    pages.router.add_get("/metrics", _metrics(registry, Kept(clock)))
    if settings and settings.web.page:
        data = LiveData(settings)
        add_assets(pages)
        Api(data, health, settings, board or HoldBoard()).add_to(pages)
        pages.cleanup_ctx.append(_stopping(data))
    return pages


def _probe(problem: Callable[[], object | None], impaired: Callable[[], Iterable[str]] = tuple) -> Answer:
    async def answer(_: web.Request) -> web.Response:
        if found := problem():
            return web.Response(status=503, text=f"{found}\n")
        return web.Response(text="\n".join(["ok", *(f"but {each}" for each in impaired()), ""]))

    return answer


def _metrics(registry: CollectorRegistry, kept: Kept) -> Answer:
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
