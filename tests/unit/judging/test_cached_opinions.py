"""What was asked once is not asked again, and no text is kept; a disk that fails changes no opinion."""

import asyncio
from contextlib import contextmanager
from dataclasses import replace

import pytest
import structlog
from prometheus_client import generate_latest

from scoring.cache.cache_file import OPINION_CACHE_ID, TRANSLATION_CACHE_ID, CacheFile
from scoring.values.opinion import Opinion, UnsureReason
from streams.llm.opinion_cache import (
    OPINION_CACHE_NAME,
    OpinionCache,
    OpinionCacheMetrics,
    OpinionCacheObserver,
    OpinionLookup,
    open_opinion_cache,
)
from streams.observability.instruments import Instruments
from tests.support.opinions import ANSWER, OPINION


class Hears(OpinionCacheObserver):
    """Notes what it is told."""

    def __init__(self):
        self.results, self.errors = [], []

    def looked_up(self, result):
        self.results.append(result)

    def failed(self, error):
        self.errors.append(error)


class Asks:
    """Gives an opinion, and counts how often."""

    def __init__(self, opinion=OPINION):
        self.opinion, self.times = opinion, 0

    async def __call__(self):
        self.times += 1
        return self.opinion


@contextmanager
def kept_in(directory, observer=None):
    with open_opinion_cache(directory, observer) as kept:
        yield kept


async def test_what_was_asked_is_not_asked_again_after_a_restart(tmp_path):
    observer, asks = Hears(), Asks()
    for _ in range(3):
        with kept_in(tmp_path, observer) as kept:
            assert await kept.get_or_ask("key", ANSWER, asks) == OPINION
    assert asks.times == 1
    assert observer.results == [OpinionLookup.MISS, OpinionLookup.HIT, OpinionLookup.HIT]
    assert observer.errors == []


async def test_another_key_is_asked_for(tmp_path):
    asks = Asks()
    with kept_in(tmp_path) as kept:
        await kept.get_or_ask("key", ANSWER, asks)
        await kept.get_or_ask("other", ANSWER, asks)
    assert asks.times == 2


async def test_no_word_of_the_answer_is_in_the_file(tmp_path):
    with kept_in(tmp_path) as kept:
        await kept.get_or_ask("key", ANSWER, Asks())
    content = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b'"single"' in content
    assert not any(word.encode() in content for word in ANSWER.split() if len(word) > 3)


@pytest.mark.parametrize(
    "opinion", [None, Opinion("single", (), "v1", None, 0.0, unsure=UnsureReason.NO_REPLY)]
)
async def test_where_no_reply_came_it_is_asked_again(tmp_path, opinion):
    asks = Asks(opinion)
    with kept_in(tmp_path) as kept:
        assert await kept.get_or_ask("key", ANSWER, asks) == opinion
        assert await kept.get_or_ask("key", ANSWER, asks) == opinion
    assert asks.times == 2


@pytest.mark.parametrize("unsure", [each for each in UnsureReason if each is not UnsureReason.NO_REPLY])
async def test_what_a_model_was_unsure_of_is_kept_too(tmp_path, unsure):
    asks = Asks(Opinion("single", ("m-1",), "v1", None, 0.0, unsure=unsure))
    with kept_in(tmp_path) as kept:
        assert await kept.get_or_ask("key", ANSWER, asks) == await kept.get_or_ask("key", ANSWER, asks)
    assert asks.times == 1


async def test_who_asks_for_the_same_at_the_same_time_shares_one_asking(tmp_path):
    observer, asks = Hears(), Asks()
    with kept_in(tmp_path, observer) as kept:
        opinions = await asyncio.gather(*(kept.get_or_ask("key", ANSWER, asks) for _ in range(4)))
    assert opinions == [OPINION] * 4
    assert asks.times == 1
    assert sorted(observer.results) == [OpinionLookup.MISS, *[OpinionLookup.SHARED] * 3]


async def test_an_asking_that_fails_keeps_nothing(tmp_path):
    async def fails():
        raise ValueError("no")

    asks = Asks()
    with kept_in(tmp_path) as kept:
        with pytest.raises(ValueError, match="no"):
            await kept.get_or_ask("key", ANSWER, fails)
        assert await kept.get_or_ask("key", ANSWER, asks) == OPINION
    assert asks.times == 1


async def test_a_file_of_something_else_is_left_alone_and_asking_goes_on(tmp_path):
    CacheFile(tmp_path / OPINION_CACHE_NAME, TRANSLATION_CACHE_ID, 1).close()
    content, observer, asks = (tmp_path / OPINION_CACHE_NAME).read_bytes(), Hears(), Asks()
    with kept_in(tmp_path, observer) as kept:
        for _ in range(2):
            assert await kept.get_or_ask("key", ANSWER, asks) == OPINION
    assert asks.times == 2
    assert set(observer.errors) == {"FOREIGN"}
    assert (tmp_path / OPINION_CACHE_NAME).read_bytes() == content


async def test_a_damaged_file_is_begun_anew(tmp_path):
    with kept_in(tmp_path) as kept:
        await kept.get_or_ask("key", ANSWER, Asks())
    with (tmp_path / OPINION_CACHE_NAME).open("r+b") as file:
        file.seek(16_384)
        file.write(b"\xff" * 40_000)
    asks = Asks()
    with kept_in(tmp_path, Hears()) as kept:
        assert await kept.get_or_ask("key", ANSWER, asks) == OPINION
    assert asks.times == 1


@pytest.mark.parametrize("content", [b"", b"{}", b'{"version": 0}'])
async def test_an_entry_of_another_form_is_asked_anew_and_replaced(tmp_path, content):
    file, observer, asks = CacheFile(tmp_path / "file", OPINION_CACHE_ID, 1), Hears(), Asks()
    file.put({b"key": content})
    kept = OpinionCache(file, observer)
    for _ in range(2):
        assert await kept.get_or_ask("key", ANSWER, asks) == OPINION
    assert asks.times == 1
    assert observer.errors == ["UNREADABLE"]
    file.close()


async def test_an_opinion_that_cannot_be_written_is_given_all_the_same(tmp_path):
    odd, observer = replace(OPINION, models=("\ud800",)), Hears()
    with kept_in(tmp_path, observer) as kept:
        assert await kept.get_or_ask("key", ANSWER, Asks(odd)) == odd
    assert observer.errors == ["UNWRITABLE"]


def test_metrics_show_lookups_and_failures_and_each_kind_of_failure_is_logged_once():
    instruments = Instruments()
    instruments.begin_section("Judges")
    telemetry = OpinionCacheMetrics(instruments)
    with structlog.testing.capture_logs() as lines:
        telemetry.looked_up(OpinionLookup.HIT)
        for error in ("SQLITE_FULL", "SQLITE_FULL", "FOREIGN"):
            telemetry.failed(error)
    page = generate_latest(instruments.registry).decode()
    assert 'truthgate_opinion_cache_lookups_total{result="hit"} 1.0' in page
    assert 'truthgate_opinion_cache_lookups_total{result="shared"} 0.0' in page
    assert 'truthgate_opinion_cache_errors_total{error_type="SQLITE_FULL"} 2.0' in page
    assert [line["error_type"] for line in lines] == ["SQLITE_FULL", "FOREIGN"]
    instruments.close(1)
