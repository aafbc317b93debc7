"""The examples of consumers do what their README says, run by its commands on a real broker."""

import asyncio
import itertools
import json
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas import Codec, Verdict, to_json
from schemas.catalogue import current_schema
from streams.kafka.kafka_clients import open_producer
from streams.kafka.schema_topic import SchemaTopic
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.desk import reviews
from tests.support.examples import Example, prepare
from tests.support.pages import rate_alert, rate_window
from tests.support.ports import NOBODY
from tests.support.rates import publish_verdicts, sample_verdict
from tests.support.records import Outgoing, committed, eventually, produce
from tests.support.releases import earlier_schema, later_schema, written_with
from tests.support.reviews import a_review
from tests.support.workers import changed

#: Java ends with 143 when it is asked to, even if it does so cleanly.
ENDS = {"Python": 0, "Node": 0, "Java": 143}
CODEC = Codec()
#: As a release before the newest one could have written: what has a default, such as the score, is not in it.
EARLIER = earlier_schema(Verdict)
NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


@pytest.fixture(scope="module", params=list(ENDS))
def section(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def example(section: str, tmp_path_factory: pytest.TempPathFactory) -> Example:
    example = prepare(section, tmp_path_factory.mktemp(section))
    for release, schema in {"0.9.0": EARLIER, "0.10.0": current_schema(Verdict)}.items():
        (example.released / release).mkdir()
        (example.released / release / "Verdict.avsc").write_text(schema.text, "utf-8")
    return example


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Give settings whose topics of rates are made, too."""
    return changed(settings, rates={"enabled": True})


def variables(settings: Settings) -> dict[str, str]:
    return {
        "KAFKA": settings.kafka.bootstrap_servers,
        "PREFIX": settings.kafka.topic_prefix,
        "GROUP": f"{settings.kafka.topic_prefix}example",
    }


def verdict(number: int, **changes: object) -> Verdict:
    return replace(sample_verdict(number, NOW), **changes)


async def publish_rates(settings: Settings, *windows: bytes, commit: bool) -> None:
    """Publish windows in a transaction, which is committed or aborted."""
    topic = Topics(settings.kafka.topic_prefix).rates
    async with open_producer(settings.kafka, transactional_id=f"{topic}{commit}") as producer:
        await producer.begin_transaction()
        for value in windows:
            await producer.send_and_wait(topic, value, partition=0)
        await (producer.commit_transaction() if commit else producer.abort_transaction())


async def test_it_shows_what_is_there_and_tells_what_it_cannot_show(
    section: str, example: Example, settings: Settings, topics: Topics, tmp_path: Path
) -> None:
    first = verdict(2, answer_id="first", reasons=("verbatim_document",))
    of_later_release = b"\xc3\x01" + bytes.fromhex("0123456789abcdef") + b"\x02a"
    await produce(settings.kafka, topics.auto_send, [Outgoing(CODEC.encode(first), partition=0)])
    await produce(
        settings.kafka,
        topics.blocked,
        [
            Outgoing(written_with(EARLIER, verdict(5, reasons=("refuted_figure", "new_code"))), partition=0),
            Outgoing(None, b"c-1", partition=0),
            Outgoing(of_later_release, partition=0),
            Outgoing(b'{"answer_id": "a"}', partition=0),
            Outgoing(CODEC.encode(first)[:30], partition=0),
            Outgoing(b"\xc3", partition=0),
            Outgoing(b"", partition=0),
            Outgoing(CODEC.encode(verdict(6, verdict_id="é", score=None, reasons=())), partition=0),
            Outgoing(CODEC.encode(verdict(6, verdict_id="é", score=None, reasons=())), partition=0),
        ],
    )
    await publish_rates(settings, CODEC.encode(rate_window(0, untrue=9)), commit=False)
    await publish_rates(settings, CODEC.encode(rate_window(0, language=None)), commit=True)
    await produce(settings.kafka, topics.rate_alerts, [CODEC.encode(rate_alert("resolved"))])
    with example.run(tmp_path / "log", variables(settings)) as running:
        running.wait_for(lambda running: len(running.lines) >= 5)
        running.wait_for(lambda running: running.complaints.count(topics.blocked) >= 7)
        assert running.terminate() == ENDS[section], running.complaints
    assert sorted(running.lines) == [
        "alert high-rate resolved",
        "auto_send first 4.5 verbatim_document",
        "blocked answer-5 - refuted_figure,new_code",
        "rate instruction/- 1 of 10 untrue",
        "review answer-6 - ",
    ]
    told = dict(line.split(": ", 1) for line in running.complaints.splitlines() if topics.blocked in line)
    place = f"{topics.blocked}/0@"
    assert told[f"{place}1"] == "no value"
    assert told[f"{place}2"] == "unknown fingerprint 0123456789abcdef: of a later release?"
    assert told[f"{place}3"] == "not in the Avro single-object encoding"
    assert told[f"{place}4"].startswith("malformed truthgate.Verdict")
    assert told[f"{place}5"] == told[f"{place}6"] == "not in the Avro single-object encoding"
    assert told[f"{place}8"] == "é again"
    assert len(told) == 7


async def test_it_shows_the_first_outcome_of_a_verdict_and_every_rating(
    section: str, example: Example, settings: Settings, topics: Topics, tmp_path: Path
) -> None:
    reviews = [
        a_review(review_id="r-1", outcome="none"),
        a_review(review_id="r-1", outcome="none"),
        a_review(review_id="r-2", outcome="none"),
        a_review(review_id="r-3", outcome="send", text=None),
        a_review(review_id="r-4", outcome="send_edited"),
        a_review(review_id="r-5", outcome="reject"),
        a_review(review_id="r-6", outcome="expired", verdict_id="v-2", answer_id="a-2"),
    ]
    await produce(settings.kafka, topics.review, [Outgoing(CODEC.encode(verdict(6, verdict_id="v-1")))])
    await produce(settings.kafka, topics.reviews, [Outgoing(CODEC.encode(e), partition=0) for e in reviews])
    with example.run(tmp_path / "log", variables(settings)) as running:
        running.wait_for(lambda running: len(running.lines) >= 6)
        running.wait_for(lambda running: running.complaints.count(topics.reviews) >= 2)
        assert running.terminate() == ENDS[section], running.complaints
    assert [each for each in running.lines if each.startswith("reviewed")] == [
        "reviewed a-1 none",
        "reviewed a-1 none",
        "reviewed a-1 send",
        "reviewed a-1 send_edited",
        "reviewed a-2 expired",
    ]
    assert "review answer-6 - " in running.lines
    told = [line.split(": ", 1)[1] for line in running.complaints.splitlines() if topics.reviews in line]
    assert told == ["r-1 again", "outcome of v-1 again"]


async def test_a_review_of_another_tool_is_published_as_the_contract_says(
    section: str, example: Example, settings: Settings, topics: Topics
) -> None:
    if section != "Python":
        pytest.skip("the others only read")
    about = to_json(verdict(1, answer="Click **Save**."))
    given = {"verdict": about, "outcome": "send", "reviewer": "kim", "rating": 5}
    for _ in range(2):
        done = await asyncio.to_thread(
            subprocess.run,
            [".venv/bin/python", "review.py"],
            cwd=example.folder / "python",
            env=variables(settings),
            input=json.dumps(given).encode(),
            check=True,
            capture_output=True,
        )
    one, two = await reviews(settings)
    assert (one.review_id, two.review_id) == (done.stdout.decode().strip(),) * 2
    assert (one.verdict_id, one.outcome, one.text, one.rating) == ("verdict-1", "send", "Click **Save**.", 5)
    assert (one.produced_at, one.source) == (NOW, "external")


async def test_the_one_in_python_reads_a_later_release_by_the_schema_on_the_topic(
    section: str, example: Example, settings: Settings, topics: Topics, tmp_path: Path
) -> None:
    if section != "Python":
        pytest.skip("it has the released schemas alone")
    later = later_schema(Verdict, default="")
    await SchemaTopic(settings.kafka).publish([later])
    await produce(settings.kafka, topics.schemas, [Outgoing(b"no schema", b"key")])
    await produce(settings.kafka, topics.blocked, [written_with(later, verdict(5), added="x")])
    with example.run(tmp_path / "log", variables(settings)) as running:
        running.wait_for(lambda running: running.lines == ["blocked answer-5 1.5 "])
        assert running.terminate() == ENDS[section], running.complaints


async def test_it_goes_on_where_it_ended(
    section: str, example: Example, settings: Settings, topics: Topics, tmp_path: Path
) -> None:
    await publish_verdicts(settings, [verdict(number) for number in range(20)])
    with example.run(tmp_path / "one", variables(settings)) as one:
        one.wait_for(lambda running: len(running.lines) == 20)
        assert one.terminate() == ENDS[section], one.complaints
    await publish_verdicts(settings, [verdict(20)])
    with example.run(tmp_path / "two", variables(settings)) as two:
        two.wait_for(lambda running: len(running.lines) == 1)
        assert two.terminate() == ENDS[section], two.complaints
    assert two.lines == ["blocked answer-20 1.5 "]


async def test_none_is_lost_when_partitions_move(
    section: str, example: Example, settings: Settings, topics: Topics, tmp_path: Path
) -> None:
    with example.run(tmp_path / "one", variables(settings)) as one:
        await publish_verdicts(settings, [verdict(number) for number in range(200)])
        one.wait_for(lambda running: len(running.lines) >= 100)
        with example.run(tmp_path / "two", variables(settings)) as two:
            numbers = itertools.count(200)

            async def second_has_its_share() -> bool:
                await publish_verdicts(settings, [verdict(next(numbers)) for _ in range(5)])
                return bool(two.lines)

            await eventually(second_has_its_share, "the second has partitions of its own")
            assert one.terminate() == ENDS[section], one.complaints
            last = next(numbers)
            await publish_verdicts(settings, [verdict(last)])
            expected = {f"answer-{number}" for number in range(last + 1)}

            def shown() -> set[str]:
                return {line.split()[1] for line in (*one.lines, *two.lines)}

            two.wait_for(lambda running: shown() >= expected)
            assert two.terminate() == ENDS[section], two.complaints


async def test_the_wire_format_of_confluent_ends_it_with_nothing_committed(
    example: Example, settings: Settings, topics: Topics, tmp_path: Path
) -> None:
    await produce(settings.kafka, topics.blocked, [Outgoing(b"\0\0\0\0\x2a\x02a", partition=0)])
    with example.run(tmp_path / "log", variables(settings)) as running:
        assert running.wait() == 1
    assert running.complaints.splitlines()[-1].startswith("Confluent's wire format: use your registry's")
    group = changed(settings, kafka={"consumer_group": variables(settings)["GROUP"]})
    assert (await committed(group.kafka, topics.blocked))[0] == 0


@pytest.mark.parametrize("name", ["SCHEMAS", "PREFIX"])
async def test_a_wrong_setting_ends_it_in_one_line(
    example: Example, settings: Settings, tmp_path: Path, name: str
) -> None:
    with example.run(tmp_path / "log", variables(settings) | {name: "nowhere"}) as running:
        assert running.wait() == 1
    (line,) = running.complaints.splitlines()
    assert line.startswith(f"{name}: ")


async def test_a_broker_that_is_away_ends_it_in_words(
    section: str, example: Example, settings: Settings, tmp_path: Path
) -> None:
    if section == "Java":
        pytest.skip("Kafka's own client asks for a minute")
    with example.run(tmp_path / "log", variables(settings) | {"KAFKA": NOBODY}) as running:
        assert running.wait() == 1
    assert running.complaints.splitlines()[-1].startswith("KAFKA: ")
