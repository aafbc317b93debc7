"""Options that choose verdicts: what they mean, and which of them cannot be meant."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
import typer
from aiokafka import TopicPartition

from scoring.scorer.profile import DESCRIPTIONS
from scoring.values.exchange import Decision
from streams.cli.common_options import parse_time
from streams.cli.stream_commands import language_of_verdicts, parse_code
from streams.cli.topic_access import SLACK, TimeRange
from streams.kafka.kafka_clients import check_reachable
from streams.kafka.topic_reader import TopicReader, TopicSnapshot

PLACE = TopicPartition("verdicts.review", 0)
PAST = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
FUTURE = datetime(2999, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("ago", "delta"), [("90s", 90), ("30m", 1800), ("2 h", 7200), ("3d", 259200)])
def test_so_long_ago_is_a_moment(ago, delta):
    before = datetime.now(UTC)
    assert before <= parse_time(ago) + timedelta(seconds=delta) <= datetime.now(UTC)


def test_a_time_is_where_the_reader_is_unless_it_has_a_zone():
    assert parse_time("2026-03-02T09:15+01:00") == datetime(2026, 3, 2, 8, 15, tzinfo=UTC)
    assert parse_time("2026-03-02") == datetime(2026, 3, 2).astimezone()


@pytest.mark.parametrize("told", ["", "yesterday", "2h3m", "-1h", "9999-99-99", "999999w", "1h "[::-1]])
def test_what_is_no_time_is_refused(told):
    with pytest.raises(typer.BadParameter, match="is not a time"):
        parse_time(told)


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ("low score", "low_score"),
        ("Low-Score", "low_score"),
        ("held", "review"),
        ("auto-send", "auto_send"),
        ("sent", "auto_send"),
        ("blocked", "blocked"),
    ],
)
def test_a_code_may_be_written_as_it_is_shown_and_a_decision_as_people_call_it(told, code):
    assert parse_code(told, {*DESCRIPTIONS, *Decision}) == code


def test_a_code_that_no_language_has_is_taken_and_told(capsys):
    assert list(map(language_of_verdicts, ["und", "NL", "en-GB", "xx"])) == ["und", "nl", "en", "xx"]
    told = "no language has the code xx: only verdicts on answers that state it can match"
    assert capsys.readouterr().err == f"truthgate: {told}\n"


class Read(SimpleNamespace):
    """A reader that tells what it is asked to read, and has nothing; offsets are seconds since 1970."""

    def __init__(self) -> None:
        super().__init__(asked=[], positions={PLACE: 7})

    async def offsets_since(self, since: int, log: TopicSnapshot) -> Mapping[TopicPartition, int]:
        return dict.fromkeys(log.end_offsets, since // 1000)

    async def snapshot(self) -> TopicSnapshot:
        return LOG

    def read_from(self, begins: Mapping[TopicPartition, int]) -> None:
        self.asked.append(("on", begins[PLACE]))

    async def follow(self, _check: object) -> AsyncGenerator[list[Any], None]:
        while True:
            yield []

    async def read_between(self, begins: Any, ends: Any) -> AsyncGenerator[list[Any], None]:
        self.asked.append((begins[PLACE], ends[PLACE]))
        yield []


LOG = TopicSnapshot((), {PLACE: 3}, {PLACE: 9}, 0.0)


async def read_in(period: TimeRange, most: int = 3) -> list[tuple[Any, ...]]:
    reader = Read()
    async with aclosing(period.batches(cast("TopicReader", reader), LOG, check_reachable)) as batches:
        async for _ in batches:
            if (most := most - 1) == 0:
                break
    return cast("list[tuple[Any, ...]]", reader.asked)


async def test_a_past_period_is_read_to_its_end_with_what_was_written_a_little_later():
    begin, end = round((PAST - SLACK).timestamp()), round((PAST + timedelta(hours=1) + SLACK).timestamp())
    assert await read_in(TimeRange(PAST, PAST + timedelta(hours=1))) == [(begin, end)]
    assert await read_in(TimeRange(None, PAST)) == [(3, round((PAST + SLACK).timestamp()))]


async def test_a_period_without_an_end_goes_on_from_now_from_a_time_or_from_the_beginning():
    assert await read_in(TimeRange()) == [("on", 9)]
    assert await read_in(TimeRange(PAST, FUTURE)) == [("on", round((PAST - SLACK).timestamp()))]
    assert await read_in(TimeRange(from_beginning=True)) == [("on", 3)]


async def test_a_period_that_ends_while_it_is_read_is_read_to_its_end_from_where_it_was():
    soon = datetime.now(UTC) + timedelta(seconds=0.2)
    asked = await read_in(TimeRange(None, soon), most=10**9)
    assert asked == [("on", 9), (7, int((soon + SLACK).timestamp()))]
