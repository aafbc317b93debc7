"""The page's own files: one each of HTML, CSS, JavaScript and an icon, from the package."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Final

from aiohttp import web

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
