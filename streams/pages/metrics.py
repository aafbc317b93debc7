"""The page ``/metrics``."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from streams.pages.api import FRESH_SECONDS


class MetricsPage:
    """Shows a registry as Prometheus reads it.

    It is written on the event loop: one text serves everybody for ``FRESH_SECONDS``, so that many who
    scrape cost no more than one.

    Args:
        registry: what is shown.
        clock: monotonic, in seconds.
    """

    def __init__(self, registry: CollectorRegistry, clock: Callable[[], float] = time.monotonic) -> None:
        self._registry = registry
        self._clock = clock
        self._written_at = -math.inf
        self._text = b""

    async def answer(self, _: web.Request) -> web.Response:
        """Answer with all metrics, as they were half a second ago at most."""
        return web.Response(body=self._fresh(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    def _fresh(self) -> bytes:
        if self._clock() - self._written_at >= FRESH_SECONDS:
            self._text = generate_latest(self._registry)
            # Counted from its end: a text that takes long to write must not be old at once.
            self._written_at = self._clock()
        return self._text
