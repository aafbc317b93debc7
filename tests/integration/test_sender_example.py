"""The example of a sender sends each answer once: over repeats, restarts, kills and other groups."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from schemas import Codec, Review, Verdict
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.examples import Example, Running, prepare
from tests.support.local_http import QuietHandler, served
from tests.support.ports import NOBODY
from tests.support.rates import publish_verdicts, sample_verdict
from tests.support.records import Outgoing, committed, end_offsets, eventually, produce
from tests.support.reviews import a_review
from tests.support.workers import changed


class Receiver:
    """Takes answers over HTTP; what ``answers_with`` returns is the status, after it has been called."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.bodies: list[dict[str, str]] = []
        self.answers_with: Callable[[], int] = lambda: 204
        receiver = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                body = json.loads(self.read_body())
                receiver.keys.append(self.headers["idempotency-key"])
                receiver.bodies.append(body)
                self.send_response(receiver.answers_with())
                self.end_headers()

        self.handler = Handler
        self.address = ""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    with served(receiver.handler) as address:
        receiver.address = f"{address}/"
        yield receiver


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Example:
    return prepare("Sender", tmp_path_factory.mktemp("sender"))


class Senders:
    """Starts senders on the topics of a test, one after the other or together, with one store."""

    def __init__(self, example: Example, settings: Settings, receiver: Receiver, folder: Path) -> None:
        self.settings = settings
        self._example = example
        self._folder = folder
        self._variables = {
            "KAFKA": settings.kafka.bootstrap_servers,
            "PREFIX": settings.kafka.topic_prefix,
            "GROUP": settings.kafka.consumer_group,
            "SEND_TO": receiver.address,
            "STORE": str(folder / "sent.sqlite3"),
            # So that nobody waits for one that was killed.
            "INSTANCE": "one",
        }

    def start(self, name: str = "log", **variables: str) -> Running:
        return self._example.run(self._folder / name, self._variables | variables)


@pytest.fixture
def senders(
    example: Example, settings: Settings, topics: Topics, receiver: Receiver, tmp_path: Path
) -> Senders:
    return Senders(example, settings, receiver, tmp_path)


def sendable(number: int, **changes: object) -> Verdict:
    values = {"decision": "auto_send", "answer": f"Klik op **{number}**.", **changes}
    return replace(sample_verdict(number, datetime.now(UTC)), **values)


async def all_committed(settings: Settings) -> bool:
    """Whether nothing is left to be read."""
    topics = Topics(settings.kafka.topic_prefix)
    for topic in (topics.auto_send, topics.reviews):
        offsets = await committed(settings.kafka, topic)
        ends = await end_offsets(settings.kafka, [topic])
        if any(end and offsets[partition.partition] != end for partition, end in ends.items()):
            return False
    return True


def reviewed(number: int, outcome: str, **changes: Any) -> Review:
    """Give a review of the verdict with this number, of an answer that was produced just now."""
    ids = {"verdict_id": f"verdict-{number}", "answer_id": f"answer-{number}"}
    at = {"conversation_id": f"conversation-{number}", "produced_at": datetime.now(UTC)}
    return a_review(**{**ids, **at, "outcome": outcome, "review_id": f"{outcome}-{number}", **changes})


async def publish_reviews(settings: Settings, *reviews: Review) -> None:
    topic, codec = Topics(settings.kafka.topic_prefix).reviews, Codec()
    records = [Outgoing(codec.encode(each), each.conversation_id.encode()) for each in reviews]
    await produce(settings.kafka, topic, records)


async def test_what_people_decided_is_sent_once_and_the_first_outcome_counts(
    senders: Senders, receiver: Receiver
) -> None:
    old = datetime.now(UTC) - timedelta(days=2)
    await publish_verdicts(senders.settings, [sendable(1)])
    await publish_reviews(
        senders.settings,
        reviewed(2, "none"),
        reviewed(2, "send", text="Two."),
        reviewed(2, "reject"),
        reviewed(3, "send_edited", text="Better."),
        reviewed(3, "send_edited", text="Better."),  # a repeat
        reviewed(4, "reject"),
        reviewed(4, "send", text="Of another tool, too late."),
        reviewed(5, "expired"),
        reviewed(5, "send", text="Too late."),
        reviewed(6, "send", text=None),
        reviewed(6, "unheard of"),
        reviewed(7, "send", text="Old.", produced_at=old),
    )
    await read_all(senders)
    # A repeat of the verdict is decided otherwise, and of the answer that was sent a person decides.
    await publish_verdicts(senders.settings, [sendable(2), sendable(4)])
    await publish_reviews(senders.settings, reviewed(1, "send_edited", text="Late."), reviewed(6, "reject"))
    await read_all(senders)
    sent = dict(zip(receiver.keys, (each["answer"] for each in receiver.bodies), strict=True))
    assert len(sent) == len(receiver.keys)
    assert sent == {
        "verdict-1": "Klik op **1**.",
        "verdict-2": "Two.",
        "verdict-3": "Better.",
        "verdict-5": "A colleague will answer.",
    }


@pytest.mark.parametrize(
    ("section", "command"), [("Node", "node sender.mjs"), ("Java", "{} Sender")], ids=["Node", "Java"]
)
async def test_the_short_ones_send_each_once_over_a_restart_and_a_kill(
    section: str, command: str, tmp_path: Path, settings: Settings, topics: Topics, receiver: Receiver
) -> None:
    program = prepare(section, tmp_path / "example")
    place, _, last = program.command.rpartition("; ")
    program = replace(program, command=f"{place}; {command.format(last.rpartition(' ')[0])}")
    short = Senders(program, settings, receiver, tmp_path)
    old = datetime.now(UTC) - timedelta(days=2)
    await publish_verdicts(settings, [sendable(1, answer='Klik "hier" \\ é.\n'), sendable(1), sendable(7)])
    await publish_reviews(
        settings,
        reviewed(2, "none"),
        reviewed(2, "send", text="Two."),
        reviewed(3, "send_edited", text="Better."),
        reviewed(4, "reject"),
        reviewed(4, "send", text="Too late."),
        reviewed(5, "expired"),
        reviewed(6, "send", text="Old.", produced_at=old),
    )
    with short.start() as one:
        await eventually(lambda: len(set(receiver.keys)) == 5, "all is sent")
        one.kill()
    await publish_verdicts(settings, [sendable(4), sendable(2), sendable(8)])
    await publish_reviews(settings, reviewed(5, "send", text="Too late."), reviewed(7, "reject"))
    with short.start(GROUP=f"{settings.kafka.consumer_group}-2") as two:  # which reads all again
        await eventually(lambda: "verdict-8" in receiver.keys, "the new one is sent", 60)
        await asyncio.sleep(2)
        assert two.running, two.complaints
        two.terminate()
    sent: dict[str, str] = {}
    for key, each in zip(receiver.keys, receiver.bodies, strict=True):
        sent.setdefault(key, each["answer"])  # a repeat of a key is dropped by who gets it
    told = two.complaints.count("may have been sent before: send")
    assert len(receiver.keys) - len(sent) <= told <= 1
    assert sent == {
        "verdict-1": 'Klik "hier" \\ é.\n',
        "verdict-2": "Two.",
        "verdict-3": "Better.",
        "verdict-5": "A colleague will answer.",
        "verdict-7": "Klik op **7**.",
        "verdict-8": "Klik op **8**.",
    }


async def kill_after(senders: Senders, receiver: Receiver, more: int) -> None:
    """Start a sender, and kill it when so many more answers are sent."""
    with senders.start() as sender:
        enough = len(receiver.keys) + more
        await eventually(lambda: len(receiver.keys) >= enough, "some more are sent")
        sender.kill()


async def read_all(senders: Senders) -> Running:
    """Let a sender read all there is, and end it."""
    with senders.start() as sender:
        await eventually(lambda: all_committed(senders.settings), "all is read")
        assert sender.terminate() == 0, sender.complaints
    return sender


async def test_kills_at_any_moment_send_what_people_decided_and_repeat_only_what_is_told(
    senders: Senders, receiver: Receiver
) -> None:
    chance = Random(7)
    for kills in range(4):
        numbers = range(40 * kills, 40 * kills + 40)
        kinds = {n: ("send", "send_edited", "reject", "expired")[n % 4] for n in numbers}
        await publish_verdicts(senders.settings, [sendable(1000 + number) for number in numbers])
        await publish_reviews(senders.settings, *(reviewed(n, kind) for n, kind in kinds.items()))
        await publish_reviews(senders.settings, *(reviewed(n, "send", text="Late.") for n in numbers))
        await kill_after(senders, receiver, chance.randrange(1, 60))
    last = await read_all(senders)
    times = Counter(receiver.keys)
    by_people = {f"verdict-{n}" for n in range(160) if n % 4 != 2}
    assert times.keys() == by_people | {f"verdict-{1000 + n}" for n in range(160)}
    assert "Late." not in {each["answer"] for each in receiver.bodies}
    told = last.complaints.count("may have been sent before: send")
    assert sum(times.values()) - len(times) <= told <= 4


async def test_an_answer_is_sent_once_however_often_its_verdict_comes(
    senders: Senders, receiver: Receiver
) -> None:
    await publish_verdicts(senders.settings, [sendable(1), sendable(2), sendable(1)])
    await read_all(senders)
    await publish_verdicts(senders.settings, [sendable(2), sendable(3), sendable(3)])
    await read_all(senders)
    assert Counter(receiver.keys) == {"verdict-1": 1, "verdict-2": 1, "verdict-3": 1}
    assert {"conversation_id": "conversation-2", "answer": "Klik op **2**."} in receiver.bodies


async def test_another_group_reads_all_again_and_sends_none_again(
    senders: Senders, receiver: Receiver
) -> None:
    await publish_verdicts(senders.settings, [sendable(number) for number in range(10)])
    await read_all(senders)
    other = changed(senders.settings, kafka={"consumer_group": f"{senders.settings.kafka.consumer_group}-2"})
    with senders.start(GROUP=other.kafka.consumer_group) as two:
        await eventually(lambda: all_committed(other), "all is read again")
        assert two.terminate() == 0
    assert len(receiver.keys) == 10


async def test_what_is_not_to_be_sent_is_told_and_not_sent(senders: Senders, receiver: Receiver) -> None:
    topic = Topics(senders.settings.kafka.topic_prefix).auto_send
    old, early = datetime.now(UTC) - timedelta(hours=2), datetime.now(UTC) + timedelta(hours=2)
    verdicts = [
        sendable(1, decision="review"),
        sendable(2, decision="later"),
        sendable(3, produced_at=old),
        sendable(4, produced_at=early),
        sendable(5),
    ]
    values = [Codec().encode(each) for each in verdicts]
    await produce(senders.settings.kafka, topic, [Outgoing(None, b"c"), *values])
    with senders.start(MAX_AGE_SECONDS="3600") as sender:
        await eventually(lambda: all_committed(senders.settings), "all is read")
        assert sender.terminate() == 0
    assert receiver.keys == ["verdict-5"]
    assert sender.complaints.count("no value") == 1
    assert sender.complaints.count("not sent") == 4


async def test_a_rejection_counts_though_the_clock_of_the_chatbot_is_ahead(
    senders: Senders, receiver: Receiver
) -> None:
    ahead = datetime.now(UTC) + timedelta(hours=2)
    await publish_reviews(senders.settings, reviewed(1, "reject", produced_at=ahead))
    await publish_reviews(
        senders.settings, reviewed(1, "send", text="Late."), reviewed(2, "send", text="So.")
    )
    with senders.start(MAX_AGE_SECONDS="3600") as sender:
        await eventually(lambda: all_committed(senders.settings), "all is read")
        assert sender.terminate() == 0
    assert receiver.keys == ["verdict-2"]


@pytest.mark.parametrize(("unsure", "times"), [("send", 2), ("skip", 1)])
async def test_killed_between_sending_and_noting_it_does_as_it_is_told_and_says_so(
    senders: Senders, receiver: Receiver, unsure: str, times: int
) -> None:
    await publish_verdicts(senders.settings, [sendable(1)])
    with senders.start(UNSURE=unsure) as one:

        def kill() -> int:
            one.kill()
            return 204

        receiver.answers_with = kill
        await eventually(lambda: not one.running, "it is killed while the receiver has the answer")
    receiver.answers_with = lambda: 204
    with senders.start(UNSURE=unsure) as two:
        await eventually(lambda: all_committed(senders.settings), "all is read")
        assert two.terminate() == 0
    assert receiver.keys == ["verdict-1"] * times
    assert f"answer-1 may have been sent before: {unsure}" in two.complaints


async def test_kills_at_any_moment_lose_none_and_repeat_only_what_is_told(
    senders: Senders, receiver: Receiver
) -> None:
    chance = Random(5)
    for kills in range(6):
        numbers = range(40 * kills, 40 * kills + 40)
        repeated = [number for number in range(40 * kills) if chance.random() < 0.2]
        await publish_verdicts(senders.settings, [sendable(number) for number in [*numbers, *repeated]])
        await kill_after(senders, receiver, chance.randrange(1, 40))
    last = await read_all(senders)
    times = Counter(receiver.keys)
    assert times.keys() == {f"verdict-{number}" for number in range(240)}
    told = last.complaints.count("may have been sent before: send")
    assert sum(times.values()) - len(times) <= told <= 6


async def test_the_partition_that_moves_is_given_up_when_its_answer_is_sent(
    senders: Senders, receiver: Receiver
) -> None:
    gate = threading.Event()

    def slow() -> int:
        gate.wait(20)
        return 204

    receiver.answers_with = slow
    await publish_verdicts(senders.settings, [sendable(number) for number in range(30)])
    with senders.start("one", INSTANCE="one") as one:
        await eventually(lambda: len(receiver.keys) == 1, "the first is at it")
        with senders.start("two", INSTANCE="two") as two:
            with pytest.raises(AssertionError):
                await eventually(lambda: len(receiver.keys) > 1, "the second does not wait", 4.0)
            gate.set()
            await eventually(lambda: all_committed(senders.settings), "all is read")
            assert (one.terminate(), two.terminate()) == (0, 0)
            assert "may have been" not in one.complaints + two.complaints
    assert Counter(receiver.keys) == {f"verdict-{number}": 1 for number in range(30)}


async def test_an_unknown_fingerprint_ends_it_with_nothing_passed_over(
    senders: Senders, receiver: Receiver
) -> None:
    topic = Topics(senders.settings.kafka.topic_prefix).auto_send
    of_later_release = b"\xc3\x01" + bytes.fromhex("0123456789abcdef") + b"\x02a"
    values = [of_later_release, Codec().encode(sendable(1))]
    await produce(senders.settings.kafka, topic, [Outgoing(value, partition=0) for value in values])
    for _ in range(2):
        with senders.start() as sender:
            assert sender.wait() == 1
        assert "unknown fingerprint 0123456789abcdef" in sender.complaints
    assert receiver.keys == []
    assert (await committed(senders.settings.kafka, topic))[0] == 0


async def test_an_answer_that_the_receiver_refuses_does_not_hold_up_the_next(
    senders: Senders, receiver: Receiver
) -> None:
    statuses = iter([503, 422])
    receiver.answers_with = lambda: next(statuses, 204)
    await publish_verdicts(senders.settings, [sendable(1)])
    with senders.start() as sender:
        await eventually(lambda: all_committed(senders.settings), "the first is refused")
        await publish_verdicts(senders.settings, [sendable(2)])
        await eventually(lambda: len(receiver.keys) == 3, "the second is sent")
        assert sender.terminate() == 0
    assert receiver.keys == ["verdict-1", "verdict-1", "verdict-2"]
    assert "answer-1: refused with 422" in sender.complaints


async def test_a_receiver_that_is_away_ends_it_and_the_answers_are_sent_by_the_next(
    senders: Senders, receiver: Receiver
) -> None:
    await publish_verdicts(senders.settings, [sendable(number) for number in range(3)])
    with senders.start(SEND_TO=f"http://{NOBODY}/", UNSURE="skip") as one:
        assert one.wait(60) == 1
    assert "cannot be sent" in one.complaints
    with senders.start(UNSURE="skip") as two:
        await eventually(lambda: all_committed(senders.settings), "they are sent")
        assert two.terminate() == 0
    assert "may have been sent" not in two.complaints
    assert sorted(receiver.keys) == ["verdict-0", "verdict-1", "verdict-2"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b"\0\0\0\0\x2a\x02a", "Confluent's wire format: use your registry's deserializer"),
        (Codec().encode(sample_verdict(1, datetime(2026, 3, 2, tzinfo=UTC)))[:30], "malformed verdict"),
        (b"\xc3", "not in the Avro single-object encoding"),
    ],
)
async def test_a_value_that_it_cannot_read_ends_it_in_one_line(
    senders: Senders, value: bytes, why: str
) -> None:
    topic = Topics(senders.settings.kafka.topic_prefix).auto_send
    await produce(senders.settings.kafka, topic, [Outgoing(value, partition=0)])
    with senders.start() as sender:
        assert sender.wait() == 1
    assert f"{topic}/0@0: {why}" in sender.complaints.splitlines()[-1]
    assert (await committed(senders.settings.kafka, topic))[0] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"SEND_TO": "here:99"},
        {"SCHEMAS": "nowhere"},
        {"PREFIX": "nowhere."},
        {"KAFKA": NOBODY},
        {"STORE": "nowhere/sent.sqlite3"},
        {"MAX_AGE_SECONDS": "a day"},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
async def test_a_wrong_setting_ends_it_in_one_line(senders: Senders, wrong: dict[str, str]) -> None:
    with senders.start(**wrong) as sender:
        assert sender.wait() == 1
    *before, last = sender.complaints.splitlines()
    assert last.startswith(*wrong)
    assert "Traceback" not in sender.complaints
    assert len(before) <= 1, "but what the client says of an address"
