"""Verdicts found, chosen and explained from the topics of a real broker."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from schemas import Codec, Verdict, to_json
from streams.settings import Settings
from tests.support.commands import truthgate, variables
from tests.support.pages import blocked_verdict
from tests.support.ports import NOBODY
from tests.support.records import Outgoing, produce

NOW = datetime.now(UTC).replace(microsecond=0)


def verdict(number: int, ago: timedelta = timedelta(), **values: object) -> Verdict:
    made = blocked_verdict(f"Klik op Opslaan {number}.", ("undefined_component", "Opslaan"), number=number)
    return replace(made, **{"produced_at": NOW - ago, "scored_at": NOW - ago, **values})


async def test_tail_shows_those_that_are_chosen_and_ends_where_it_is_to(settings, topics):
    hour = timedelta(hours=1)
    blocked = [
        verdict(1, 3 * hour),
        verdict(2, hour),
        verdict(3, hour, language=None),
        verdict(4, hour, reasons=("low_score",), score=1.2),
        verdict(5, hour, message_type="binary"),
        verdict(6, hour, context_ids=("d-6",)),
    ]
    await produce(settings.kafka, topics.blocked, map(Codec().encode, blocked))
    review = verdict(7, hour, decision="review", score=None, degraded=("documents_stale",))
    await produce(settings.kafka, topics.review, [Codec().encode(review)])
    environment = variables(settings)

    def shown(*options: str) -> list[str]:
        done = truthgate("tail", "--until", "1m", "--json", *options, environment=environment)
        assert (done.returncode, done.stderr) == (0, "")
        return sorted(json.loads(line)["answer_id"] for line in done.stdout.splitlines())

    assert shown() == ["a-1", "a-2", "a-3", "a-4", "a-5", "a-6", "a-7"]
    assert shown("--since", "2h", "--decision", "blocked") == ["a-2", "a-3", "a-4", "a-5", "a-6"]
    assert shown("--language", "und", "--language", "en") == ["a-3"]
    assert shown("--reason", "low score", "--reason", "documents_stale") == ["a-4", "a-7"]
    assert shown("--message-type", "binary") == ["a-5"]
    assert shown("--document", "d-6", "--max-score", "1.5") == ["a-6"]
    assert shown("--max-score", "1.3") == ["a-4"]


def explained(settings: Settings, *arguments: str) -> dict[str, Any]:
    done = truthgate("explain", *arguments, "--json", environment=variables(settings))
    assert (done.returncode, done.stderr) == (0, "")
    return cast("dict[str, Any]", json.loads(done.stdout))


async def test_a_verdict_is_explained_with_its_place_trace_and_repeats_however_far_back_it_stands(
    settings, topics
):
    trace = (("traceparent", b"00-" + b"ab" * 16 + b"-" + b"cd" * 8 + b"-01"),)
    blocked, review = verdict(1), verdict(1, decision="review", reasons=("sending_paused",))
    mention = verdict(2, question="What of a-1?")
    encode = Codec().encode
    far = [Outgoing(encode(mention), partition=0), Outgoing(encode(blocked), headers=trace, partition=0)]
    offsets = await produce(settings.kafka, topics.blocked, far)
    await produce(settings.kafka, topics.blocked, [Outgoing(b"\x00" * 8, partition=0)] * 5_000)
    await produce(settings.kafka, topics.review, [encode(review), encode(review), b"a-1"])
    told = explained(settings, "a-1")
    assert told["verdict"] == to_json(blocked)
    place = {"topic": topics.blocked, "partition": 0, "offset": offsets[1], "file": None, "line": None}
    assert (told["place"], told["trace_id"]) == (place, "ab" * 16)
    assert [each["place"]["topic"] for each in told["repeats"]] == [topics.review] * 2
    assert {tuple(each["differs"]) for each in told["repeats"]} == {("decision", "reasons")}
    newest = explained(settings, blocked.verdict_id, "--newest", "--since", "1h")
    assert newest["verdict"]["decision"] == "review"
    text = truthgate("explain", "a-1", environment=variables(settings))
    assert text.stdout.startswith("a-1  blocked  score 1.5 of 5  instruction, nl\n\nWhy\n")


@pytest.mark.usefixtures("topics")
def test_a_verdict_that_is_not_there_is_exit_code_1_and_kafka_that_is_away_3(settings):
    missing = truthgate("explain", "a-9", environment=variables(settings))
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr == "truthgate: no verdict a-9 in the verdict topics\n"
    nowhere = variables(settings) | {"TRUTHGATE_KAFKA__BOOTSTRAP_SERVERS": NOBODY}
    away = truthgate("explain", "a-9", environment=nowhere)
    assert (away.returncode, away.stderr.count("\n")) == (3, 1)
    assert NOBODY in away.stderr
