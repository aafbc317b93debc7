"""What each topic is for: who writes it, its key, its record, and what to know of repeats."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from docs.generate.contract.record_headers import DEAD_LETTER, EVENT, PUBLISHED, TRACE, Header
from schemas import (
    ChatbotAnswer,
    KnowledgeDocument,
    KnownAnswer,
    Pause,
    PolicyChange,
    RateAlert,
    RateWindow,
    Record,
    Review,
    Verdict,
)
from streams.kafka.topics import Topics

_CONVERSATION = "The answer's `conversation_id`: answers of one conversation stay in order."
_VERDICT_REPEATS = (
    "A repeat has the same `verdict_id`, which depends only on `answer_id`: drop ids that you have seen. It "
    "may be on another verdict topic, if a document, a pause or the policy has changed."
)
_READ_COMMITTED = "Written in transactions: read with `isolation.level=read_committed`."


class Direction(StrEnum):
    """Which way a topic's records go, as truthgate sees it."""

    IN = "in"
    OUT = "out"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Channel:
    """One topic.

    Args:
        name: its name without prefix, in letters that AsyncAPI takes for a key.
        address: its full name.
        direction: which way its records go.
        title: its content, in a few words.
        about: notes for its readers and writers, in sentences.
        key: what its keys are, in a sentence.
        record_type: the record; None: not a record of the contract; see ``about``.
        headers: those that are written.
        json: whether JSON is read, too, where ``encoding.json_input`` is on.
        content_type: of the values, where there is no ``record_type``.
    """

    name: str
    address: str
    direction: Direction
    title: str
    about: str
    key: str
    record_type: type[Record] | None
    headers: tuple[Header, ...] = ()
    json: bool = False
    content_type: str = "application/octet-stream"


def channels(topics: Topics) -> tuple[Channel, ...]:
    """Return all topics, inputs first."""
    return (*_inputs(topics), *_outputs(topics), *_internal(topics))


def _inputs(topics: Topics) -> Iterator[Channel]:
    optional = (*(replace(header, always=False) for header in EVENT), *TRACE)
    yield Channel(
        "answers",
        topics.answers,
        Direction.IN,
        "Answers of the chatbot to be judged",
        "Each ends in one verdict or one dead letter, and may be judged more than once. A null value becomes "
        "a dead letter.",
        _CONVERSATION,
        ChatbotAnswer,
        optional,
        json=True,
    )
    yield Channel(
        "documents",
        topics.documents,
        Direction.IN,
        "Help documents that answers are compared with",
        "Compacted: the newest record of each key is kept; a null value (tombstone) deletes the document.",
        "The `document_id`.",
        KnowledgeDocument,
        optional,
        json=True,
    )
    yield Channel(
        "reviews",
        topics.reviews,
        Direction.IN,
        "What people decided about verdicts, and their ratings",
        "The first record on the partition with a final outcome counts for its verdict; ignore later ones. "
        "Senders read it too. All of it is kept.",
        _CONVERSATION,
        Review,
        optional,
        json=True,
    )


def _outputs(topics: Topics) -> Iterator[Channel]:
    published = (*PUBLISHED, *TRACE)
    verdicts = (
        ("verdictsAutoSend", topics.auto_send, "Verdicts on answers that may be sent"),
        ("verdictsReview", topics.review, "Verdicts on answers that a person must see first"),
        ("verdictsBlocked", topics.blocked, "Verdicts on answers that must not be sent"),
    )
    for name, address, title in verdicts:
        yield Channel(
            name, address, Direction.OUT, title, _VERDICT_REPEATS, _CONVERSATION, Verdict, published
        )
    yield Channel(
        "shadowVerdicts",
        topics.shadow_verdicts,
        Direction.OUT,
        "Verdicts of workers in shadow (`shadow.name`), to be compared and never acted on",
        "The `verdict_id` is that of the verdict that counts; `ce_source` ends in `shadow/` and the name of "
        "the shadow. Send nothing by them, whatever their decision.",
        _CONVERSATION,
        Verdict,
        published,
    )
    yield Channel(
        "hallucinationRates",
        topics.rates,
        Direction.OUT,
        "Rates of untrue answers in windows of event time",
        f"{_READ_COMMITTED} A window is published again while it changes: its last record counts.",
        "The `message_type`.",
        RateWindow,
        published,
    )
    yield Channel(
        "hallucinationAlerts",
        topics.rate_alerts,
        Direction.OUT,
        "Rates that rose above a threshold, or fell below it again",
        f"{_READ_COMMITTED} A repeat has the same `alert_id` and `status`.",
        "The `message_type`, or `all`.",
        RateAlert,
        published,
    )
    yield Channel(
        "answersDeadLetters",
        topics.dead_letters,
        Direction.OUT,
        "Records that could not be judged, unchanged",
        "Key, value and headers are those of the original; the `dlq.` headers give the cause. Every worker "
        "also writes the unusable records of `documents` here.",
        "The original's key: any bytes, or none.",
        None,
        DEAD_LETTER,
    )
    yield Channel(
        "schemas",
        topics.schemas,
        Direction.OUT,
        "Avro schemas of all records on the other topics",
        "Whoever writes the single-object encoding publishes the schemas of its records here first. "
        "The value is the schema as JSON. Compacted, one partition; nothing deletes a schema.",
        "The schema's fingerprint: 16 hexadecimal digits, in the order of the bytes in a value.",
        None,
        content_type="application/json",
    )


def _internal(topics: Topics) -> Iterator[Channel]:
    yield Channel(
        "controls",
        topics.controls,
        Direction.INTERNAL,
        "Pauses of sending by operators",
        "Written by `truthgate pause` and `resume`, always in the Avro single-object encoding; compacted, "
        "one partition, and a null value ends the pause of its key.",
        "Message type and language, such as `instruction/nl`; `*` means any.",
        Pause,
        EVENT,
    )
    yield Channel(
        "knownAnswers",
        topics.known_answers,
        Direction.INTERNAL,
        "What persons decided about answers that are word for word the same",
        "With `policy.known_answers`: written by `truthgate desk`, always in the Avro single-object "
        "encoding; compacted, one partition, and the last record of a key counts.",
        "The `key`: the `known_answer_key` of verdicts.",
        KnownAnswer,
        PUBLISHED,
    )
    yield Channel(
        "policies",
        topics.policies,
        Direction.INTERNAL,
        "Policies that were fitted to ratings, and which of them decides",
        "Written by `truthgate policy` and the desk, always in the Avro single-object encoding; compacted, "
        "one partition. Of all versions the one that was approved last decides, in the order of the offsets.",
        "Version and change, such as `settings/approved`; for the withdrawal of a group with the group, such "
        "as `fitted-20261128T0500Z-3f2a9c1d/withdrawn/instruction nl`.",
        PolicyChange,
        EVENT,
    )
    yield Channel(
        "hallucinationRatesState",
        topics.rates_state,
        Direction.INTERNAL,
        "The progress of counting verdicts",
        "Used by workers only; its format may change with any release. Compacted, one partition.",
        "Internal.",
        None,
    )
