"""The page's API.

``/api/live?window=SECONDS&language=CODE``: without a window it is the first, without a language all of them.
``/api/answers?decision=&message_type=&language=&reason=&within=SECONDS&shown=N``: the last answers, of all
that are kept where nothing is chosen. ``/api/verdict?id=&decision=`` explains one of these.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Final, Self

from aiohttp import web
from pydantic import TypeAdapter

from streams.explaining.verdict_explainer import VerdictFilter
from streams.observability.health import Health
from streams.pause.pause_state import PauseState
from streams.settings import Settings
from streams.web import page_data as sending
from streams.web.live_data import LiveData, ResponseCache
from streams.web.page_data import ALL, AnswerList, LivePage, RateSeries, Threshold, VerdictDetails

_MAX_NAME_CHARACTERS: Final = 256
_MAX_DIGITS: Final = 9
#: What the answers are chosen by, in the order of their names in an address.
_FILTER_NAMES: Final = ("decision", "language", "message_type", "reason")
_SHOWN_AT_FIRST: Final = 20
#: Each has an excerpt made for it, of a millisecond or more.
_MAX_ANSWERS: Final = 100
_MAX_AGE: Final = timedelta(days=366)
_LIVE, _ANSWERS, _EXPLAINED = TypeAdapter(LivePage), TypeAdapter(AnswerList), TypeAdapter(VerdictDetails)


class PageApi:
    """Handles the requests of the page.

    Args:
        data: what was read.
        health: what the worker waits for or suffers from.
        settings: the policy, and the thresholds of alerts.
        pause_state: the pauses by operators.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        data: LiveData,
        health: Health,
        settings: Settings,
        pause_state: PauseState,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._data = data
        self._health = health
        self._settings = settings
        self._pause_state = pause_state
        self._clock = clock
        self._version = version("truthgate")
        self._kept = ResponseCache(clock)
        self._answers = ResponseCache(clock)
        self._turn = asyncio.Lock()

    def add_to(self, pages: web.Application) -> None:
        """Serve the data under ``/api/``."""
        pages.router.add_get("/api/live", self.live)
        pages.router.add_get("/api/answers", self.answers)
        pages.router.add_get("/api/verdict", self.verdict)

    async def live(self, request: web.Request) -> web.Response:
        """Respond with :class:`LivePage`; 400 for an unknown window."""
        self._data.visit()
        sizes = {str(choice.size): choice.size for choice in self._data.windows}
        asked = request.query.get("window", next(iter(sizes)))
        language = request.query.get("language") or None
        if asked not in sizes or len(language or "") > _MAX_NAME_CHARACTERS:
            return _error(400, "unknown window or language")
        key = ("live", asked, language or "")
        return _json(self._kept.body(key, lambda: _LIVE.dump_json(self._document(sizes[asked], language))))

    async def answers(self, request: web.Request) -> web.Response:
        """Respond with :class:`AnswerList`; 400 for an invalid filter."""
        self._data.visit()
        asked = _AnswersQuery.parse(request.query)
        if asked is None:
            return _error(400, "nothing can be chosen by that")
        # In a thread, and one at a time: excerpts of long answers take a while.
        async with self._turn:
            body = await asyncio.to_thread(self._answers.body, asked.key, lambda: self._chosen(asked))
        return _json(body)

    async def verdict(self, request: web.Request) -> web.Response:
        """Respond with :class:`VerdictDetails`; 404 if the verdict is not stored, or no longer."""
        self._data.visit()
        wanted = request.query.get("id", ""), request.query.get("decision", "")
        async with self._turn:
            body = await asyncio.to_thread(self._explained, *wanted)
        return _json(body) if body else _error(404, "that verdict is not among the last ones")

    def _explained(self, verdict_id: str, decision: str) -> bytes | None:
        explained = self._data.answers.details(verdict_id, decision)
        return _EXPLAINED.dump_json(explained) if explained else None

    def _chosen(self, asked: _AnswersQuery) -> bytes:
        return _ANSWERS.dump_json(self._data.answers.select(asked.to_filter(self._clock()), asked.shown))

    def _document(self, window: int, language: str | None) -> LivePage:
        data = self._data
        return LivePage(
            now=round(self._clock() * 1000),
            version=self._version,
            desk=self._settings.desk.public_url,
            source=data.source,
            worker=self._health.unready_reason,
            sending=sending.sending_status(self._settings.policy, self._pause_state),
            windows=data.windows,
            window=window,
            languages=data.rates.languages,
            language=language,
            end=data.rates.end(window),
            series=tuple(
                RateSeries(message_type, points, self._thresholds(message_type, window, language))
                for message_type, points in data.rates.series(window, language).items()
            ),
            alerts=data.alerts.firing,
            answers=data.answers.number,
        )

    def _thresholds(self, message_type: str, window: int, language: str | None) -> tuple[Threshold, ...]:
        return tuple(
            Threshold(each.name, each.rate, each.minimum_answers, each.severity)
            for each in self._settings.alerts.thresholds
            if (each.message_type or ALL, each.language) == (message_type, language)
            and each.window_seconds == window
        )


@dataclass(frozen=True, slots=True)
class _AnswersQuery:
    """The query of a request: each of ``names`` is empty or a value, in the order of ``_FILTER_NAMES``."""

    names: tuple[str, ...]
    within: int | None
    shown: int

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> Self | None:
        """Parse the query of a request; return None if it is invalid."""
        names = tuple(query.get(name, "") for name in _FILTER_NAMES)
        within, shown = query.get("within") or None, query.get("shown", str(_SHOWN_AT_FIRST))
        if any(len(name) > _MAX_NAME_CHARACTERS for name in names) or not (
            _is_count(within or "1") and _is_count(shown)
        ):
            return None
        return cls(names, int(within) if within else None, min(int(shown), _MAX_ANSWERS))

    @property
    def key(self) -> tuple[str, ...]:
        """The key of this query's response in the cache."""
        return (*self.names, str(self.within), str(self.shown))

    def to_filter(self, now: float) -> VerdictFilter:
        """Return the filter of this query; ``now`` is in seconds since 1970."""
        chosen = (frozenset({name} if name else ()) for name in self.names)
        decisions, languages, message_types, reasons = chosen
        ago = min(timedelta(seconds=self.within), _MAX_AGE) if self.within else None
        return VerdictFilter(
            decisions=decisions,
            message_types=message_types,
            languages=languages,
            reasons=reasons,
            since=datetime.fromtimestamp(now, UTC) - ago if ago else None,
        )


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS and int(text) > 0


def _error(status: int, why: str) -> web.Response:
    return _json(json.dumps({"error": why}).encode(), status)


def _json(body: bytes, status: int = 200) -> web.Response:
    headers = {"Cache-Control": "no-store"}
    return web.Response(body=body, status=status, content_type="application/json", headers=headers)
