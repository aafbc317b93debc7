"""Verdicts found, chosen and explained from the topics of a real broker."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from schemas import Codec, Verdict
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.commands import truthgate, variables
from tests.support.pages import blocked_verdict
from tests.support.records import produce

NOW = datetime.now(UTC).replace(microsecond=0)


def verdict(number: int, ago: timedelta = timedelta(), **values: object) -> Verdict:
    made = blocked_verdict(f"Klik op Opslaan {number}.", ("undefined_component", "Opslaan"), number=number)
    return replace(made, **{"produced_at": NOW - ago, "scored_at": NOW - ago, **values})


async def test_tail_shows_those_that_are_chosen_and_ends_where_it_is_to(
    settings: Settings, topics: Topics
) -> None:
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
