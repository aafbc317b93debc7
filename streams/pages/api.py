"""The page's data as JSON: ``/api/live?window=SECONDS&language=CODE`` and ``/api/blocked``.

``documents`` says what they hold. Without a window it is the first, without a language all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Final

from aiohttp import web
from pydantic import TypeAdapter

from streams.health import Health
from streams.holds.board import HoldBoard
from streams.pages import sending
from streams.pages.kept import Kept
from streams.pages.live import LiveData
from streams.pages.views import ALL, Blocked, Live, Series, Threshold
from streams.settings import Settings

_LONGEST_LANGUAGE: Final = 256
_LIVE, _BLOCKED = TypeAdapter(Live), TypeAdapter(Blocked)


class Api:
    """Answers the page's questions.

    Args:
        data: what was read.
        health: what the worker waits for or suffers from.
        settings: the policy, and the thresholds of alerts.
        board: what operators hold back from being sent.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        data: LiveData,
        health: Health,
        settings: Settings,
        board: HoldBoard,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._data = data
        self._health = health
        self._settings = settings
        self._board = board
        self._clock = clock
        self._version = version("truthgate")
        self._kept = Kept(clock)

    def add_to(self, pages: web.Application) -> None:
        """Serve the data under ``/api/``."""
        pages.router.add_get("/api/live", self.live)
        pages.router.add_get("/api/blocked", self.blocked)

    async def live(self, request: web.Request) -> web.Response:
        """Answer with :class:`Live`; 400 for a window that there is none of."""
        self._data.visit()
        sizes = {str(choice.size): choice.size for choice in self._data.windows}
        asked = request.query.get("window", next(iter(sizes)))
        language = request.query.get("language") or None
        if asked not in sizes or len(language or "") > _LONGEST_LANGUAGE:
            return _json(b'{"error":"unknown window or language"}', status=400)
        return _json(
            self._kept.body(
                ("live", asked, language or ""),
                lambda: _LIVE.dump_json(self._document(sizes[asked], language)),
            )
        )

    async def blocked(self, _: web.Request) -> web.Response:
        """Answer with :class:`Blocked`."""
        self._data.visit()
        return _json(self._kept.body(("blocked",), lambda: _BLOCKED.dump_json(self._data.blocked.document())))

    def _document(self, window: int, language: str | None) -> Live:
        data = self._data
        return Live(
            now=round(self._clock() * 1000),
            version=self._version,
            source=data.source,
            worker=self._health.not_ready,
            sending=sending.told(self._settings.policy, self._board),
            windows=data.windows,
            window=window,
            languages=data.rates.languages,
            language=language,
            end=data.rates.end(window),
            series=self._series(window, language),
            alerts=data.alerts.firing,
            blocked=data.blocked.number,
        )

    def _series(self, window: int, language: str | None) -> tuple[Series, ...]:
        drawn = self._data.rates.series(window, language)
        return tuple(
            Series(message_type, points, self._thresholds(message_type, window, language))
            for message_type, points in drawn.items()
        )

    def _thresholds(self, message_type: str, window: int, language: str | None) -> tuple[Threshold, ...]:
        return tuple(
            Threshold(each.name, each.rate, each.minimum_answers, each.severity)
            for each in self._settings.alerts.thresholds
            if (each.message_type or ALL, each.language) == (message_type, language)
            and each.window_seconds == window
        )


def _json(body: bytes, status: int = 200) -> web.Response:
    headers = {"Cache-Control": "no-store"}
    return web.Response(body=body, status=status, content_type="application/json", headers=headers)
