"""What a failure of the index proves is told from what SQLite and the operating system say."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import cast

import pytest

from scoring.language import LanguageDetector
from streams.retrieval.embedder import EmbeddingFailed
from streams.retrieval.faults import Fault, described, fault_of
from streams.retrieval.index_file import DamagedIndex, NoIndex
from streams.retrieval.patience import Patience
from streams.retrieval.retriever import IndexRetriever
from streams.retrieval.search import Search
from streams.retrieval.types import RetrievalUnavailable, Retrieved
from tests.support.local_retrieval import sqlite_error

DAMAGED = sqlite_error("SQLITE_CORRUPT")
FULL = sqlite_error("SQLITE_FULL")
LOCKED = sqlite_error("SQLITE_BUSY")
FOUND = Retrieved((), sufficient=True)


def no_text() -> sqlite3.Error:
    """Give the error of a text that is no UTF-8, as this Python raises it."""
    with closing(sqlite3.connect(":memory:")) as database, pytest.raises(sqlite3.OperationalError) as raised:
        database.execute("SELECT CAST(x'ff' AS TEXT)").fetchone()
    return raised.value


@pytest.mark.parametrize(
    ("error", "fault", "reason"),
    [
        (TimeoutError(), Fault.SLOW, "TimeoutError"),
        (LOCKED, Fault.SLOW, "SQLITE_BUSY"),
        (sqlite_error("SQLITE_BUSY_RECOVERY"), Fault.SLOW, "SQLITE_BUSY_RECOVERY"),
        (DAMAGED, Fault.DAMAGE, "SQLITE_CORRUPT"),
        (sqlite_error("SQLITE_NOTADB"), Fault.DAMAGE, "SQLITE_NOTADB"),
        (sqlite_error("SQLITE_CORRUPT_INDEX"), Fault.DAMAGE, "SQLITE_CORRUPT_INDEX"),
        (no_text(), Fault.DAMAGE, "OperationalError"),
        (FileNotFoundError(errno.ENOENT, "gone"), Fault.DAMAGE, "ENOENT (gone)"),
        (NoIndex("no_index"), Fault.DAMAGE, "no_index"),
        (DamagedIndex("index_damaged"), Fault.DAMAGE, "index_damaged"),
        (FULL, Fault.SURROUNDINGS, "SQLITE_FULL"),
        (sqlite_error("SQLITE_IOERR_WRITE"), Fault.SURROUNDINGS, "SQLITE_IOERR_WRITE"),
        (sqlite_error("SQLITE_CANTOPEN"), Fault.SURROUNDINGS, "SQLITE_CANTOPEN"),
        (sqlite_error("SQLITE_READONLY"), Fault.SURROUNDINGS, "SQLITE_READONLY"),
        (PermissionError(errno.EACCES, "no right"), Fault.SURROUNDINGS, "EACCES (no right)"),
        (EmbeddingFailed("embeddings_timeout"), Fault.SURROUNDINGS, "embeddings_timeout"),
        (MemoryError(), Fault.SURROUNDINGS, "MemoryError"),
        (TypeError("a mistake of ours"), Fault.SURROUNDINGS, "TypeError"),
    ],
)
def test_only_missing_and_unreadable_files_are_damage(error: Exception, fault: Fault, reason: str) -> None:
    assert fault_of(error) is fault
    assert described(error) == reason


class _Failing:
    """Answers each search with the next of its outcomes."""

    def __init__(self, outcomes: Sequence[Exception | None]) -> None:
        self._outcomes = iter(outcomes)

    def __call__(self, _question: str, _language: str | None, _seconds: float) -> Retrieved:
        if outcome := next(self._outcomes):
            raise outcome
        return FOUND


async def _asked(outcomes: Sequence[Exception | None]) -> tuple[list[str], int]:
    """Search as often as there are outcomes; return what was told, and how often of damage."""
    damages: list[None] = []
    search = cast("Search", _Failing(outcomes))
    retriever = IndexRetriever(
        lambda: search, lambda: LanguageDetector(()), on_damaged=lambda: damages.append(None)
    )
    told = []
    for _ in outcomes:
        try:
            await retriever.retrieve("question", "en", 20)
            told.append("found")
        except RetrievalUnavailable as error:
            told.append(str(error))
    retriever.close()
    return told, len(damages)


@pytest.mark.parametrize(
    ("outcomes", "told", "damages"),
    [
        ([LOCKED] * 7, {"timeout"}, 0),
        ([TimeoutError()] * 7, {"timeout"}, 0),
        ([FULL] * 7, {"index_failed"}, 0),
        ([EmbeddingFailed("embeddings_unreachable")] * 7, {"index_failed"}, 0),
        ([DAMAGED] * 3, {"index_failed"}, 1),
        ([DAMAGED, DAMAGED, None, DAMAGED, DAMAGED], {"index_failed", "found"}, 0),
        ([DAMAGED] * 6, {"index_failed"}, 2),
    ],
)
def test_only_damage_found_again_and_again_is_told_as_damage(
    outcomes: list[Exception | None], told: set[str], damages: int
) -> None:
    assert asyncio.run(_asked(outcomes)) == (pytest.approx(list(_told(outcomes))), damages)
    assert set(_told(outcomes)) == told


def _told(outcomes: Sequence[Exception | None]) -> list[str]:
    codes = {Fault.SLOW: "timeout", Fault.DAMAGE: "index_failed", Fault.SURROUNDINGS: "index_failed"}
    return [codes[fault_of(outcome)] if outcome else "found" for outcome in outcomes]


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_index_that_is_damaged_again_and_again_is_built_anew_ever_more_seldom_but_every_hour() -> None:
    clock = _Clock()
    patience, waits = Patience(30, clock), []
    for _ in range(12):
        began = clock.now
        while not patience.allows:
            clock.now += 1
        waits.append(clock.now - began)
        patience.began()
    assert waits == [0, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600]


def test_an_index_that_stayed_whole_for_long_is_built_anew_at_once() -> None:
    clock = _Clock()
    patience = Patience(30, clock)
    for _ in range(3):
        clock.now += 1_000
        assert patience.allows
        patience.began()
        assert not patience.allows
        patience.is_whole()


def test_an_index_is_built_anew_exactly_when_the_wait_is_over() -> None:
    clock = _Clock()
    patience = Patience(30, clock)
    patience.began()
    clock.now = 29.9
    assert not patience.allows
    clock.now = 30
    assert patience.allows


@pytest.mark.parametrize(("whole_for", "wait"), [(60, 60), (60.1, 30)])
def test_only_an_index_that_stayed_whole_for_more_than_twice_the_wait_makes_the_next_a_first(
    whole_for: float, wait: float
) -> None:
    clock = _Clock()
    patience = Patience(30, clock)
    patience.began()
    clock.now = 100
    patience.is_whole()
    clock.now = 100 + whole_for / 2
    patience.is_whole()
    clock.now = 100 + whole_for
    patience.began()
    clock.now += wait - 0.5
    assert not patience.allows
    clock.now += 0.5
    assert patience.allows
