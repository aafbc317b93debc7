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

from streams.explaining.explaining import Sieve
from streams.observability.health import Health
from streams.pause.board import HoldBoard
from streams.settings import Settings
from streams.web import views as sending
from streams.web.live import Kept, LiveData
from streams.web.views import ALL, Answers, Explained, Live, Series, Threshold

_LONGEST: Final = 256
_MOST_DIGITS: Final = 9
#: What the answers are chosen by, in the order of their names in an address.
_CHOSEN_BY: Final = ("decision", "language", "message_type", "reason")
_SHOWN_AT_FIRST: Final = 20
#: Each has an excerpt made for it, of a millisecond or more.
_MOST_SHOWN: Final = 100
_LONGEST_AGO: Final = timedelta(days=366)
_LIVE, _ANSWERS, _EXPLAINED = TypeAdapter(Live), TypeAdapter(Answers), TypeAdapter(Explained)


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
        self._answers = Kept(clock)
        self._turn = asyncio.Lock()

    def add_to(self, pages: web.Application) -> None:
        """Serve the data under ``/api/``."""
        pages.router.add_get("/api/live", self.live)
        pages.router.add_get("/api/answers", self.answers)
        pages.router.add_get("/api/verdict", self.verdict)

    async def live(self, request: web.Request) -> web.Response:
        """Answer with :class:`Live`; 400 for a window that there is none of."""
        self._data.visit()
        sizes = {str(choice.size): choice.size for choice in self._data.windows}
        asked = request.query.get("window", next(iter(sizes)))
        language = request.query.get("language") or None
        if asked not in sizes or len(language or "") > _LONGEST:
            return _error(400, "unknown window or language")
        key = ("live", asked, language or "")
        return _json(self._kept.body(key, lambda: _LIVE.dump_json(self._document(sizes[asked], language))))

    async def answers(self, request: web.Request) -> web.Response:
        """Answer with :class:`Answers`; 400 for what nothing can be chosen by."""
        self._data.visit()
        asked = _Asked.of(request.query)
        if asked is None:
            return _error(400, "nothing can be chosen by that")
        # In a thread, and one at a time: excerpts of long answers take a while.
        async with self._turn:
            body = await asyncio.to_thread(self._answers.body, asked.key, lambda: self._chosen(asked))
        return _json(body)

    async def verdict(self, request: web.Request) -> web.Response:
        """Answer with :class:`Explained`; 404 where there is none, or none any more."""
        self._data.visit()
        wanted = request.query.get("id", ""), request.query.get("decision", "")
        async with self._turn:
            body = await asyncio.to_thread(self._explained, *wanted)
        return _json(body) if body else _error(404, "that verdict is not among the last ones")

    def _explained(self, verdict_id: str, decision: str) -> bytes | None:
        explained = self._data.answers.explained(verdict_id, decision)
        return _EXPLAINED.dump_json(explained) if explained else None

    def _chosen(self, asked: _Asked) -> bytes:
        return _ANSWERS.dump_json(self._data.answers.chosen(asked.sieve(self._clock()), asked.shown))

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
            series=tuple(
                Series(message_type, points, self._thresholds(message_type, window, language))
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
class _Asked:
    """What is asked for: each of ``names`` is empty or a name, in the order of ``_CHOSEN_BY``."""

    names: tuple[str, ...]
    within: int | None
    shown: int

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self | None:
        """Read it from an address, or give None where it is none."""
        names = tuple(query.get(name, "") for name in _CHOSEN_BY)
        within, shown = query.get("within") or None, query.get("shown", str(_SHOWN_AT_FIRST))
        if any(len(name) > _LONGEST for name in names) or not (_is_count(within or "1") and _is_count(shown)):
            return None
        return cls(names, int(within) if within else None, min(int(shown), _MOST_SHOWN))

    @property
    def key(self) -> tuple[str, ...]:
        """What tells it from all else that may be asked for."""
        return (*self.names, str(self.within), str(self.shown))

    def sieve(self, now: float) -> Sieve:
        """Give the sieve that lets just that through; ``now`` is in seconds since 1970."""
        chosen = (frozenset({name} if name else ()) for name in self.names)
        decisions, languages, message_types, reasons = chosen
        ago = min(timedelta(seconds=self.within), _LONGEST_AGO) if self.within else None
        return Sieve(
            decisions=decisions,
            message_types=message_types,
            languages=languages,
            reasons=reasons,
            since=datetime.fromtimestamp(now, UTC) - ago if ago else None,
        )


def _is_count(told: str) -> bool:
    return told.isascii() and told.isdigit() and len(told) <= _MOST_DIGITS and int(told) > 0


def _error(status: int, why: str) -> web.Response:
    return _json(json.dumps({"error": why}).encode(), status)


def _json(body: bytes, status: int = 200) -> web.Response:
    headers = {"Cache-Control": "no-store"}
    return web.Response(body=body, status=status, content_type="application/json", headers=headers)
