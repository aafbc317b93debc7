"""The topics: names, partitions and configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from streams.settings import Settings


class Topics:
    """The full names of all topics with one prefix.

    Attributes:
        answers: input: the chatbot's answers, keyed by conversation.
        documents: input: the help documents, compacted, keyed by document.
        reviews: input and output: what people decided, keyed by conversation; kept for ever.
        controls: internal: operators' pauses of automatic sending, compacted, one partition.
        schemas: the Avro schemas of all records, by fingerprint, compacted, one partition.
        known_answers: internal: what persons decided about equal answers, compacted, one partition.
        policies: internal: policies fitted to ratings, and which one decides, compacted, one partition.
        auto_send: output: verdicts on answers that may be sent.
        review: output: verdicts on answers that need a review first.
        blocked: output: verdicts on answers that must not be sent.
        shadow_verdicts: output: verdicts of workers in shadow, which nothing acts on. Its name is not among
            ``verdicts.*``: a sender that reads these by pattern must not find them.
        rates: output: hallucination rates per message type and window.
        rate_alerts: output: hallucination rates that crossed a threshold, or recovered.
        rates_state: internal: the progress of counting the verdicts, compacted, one partition.
        dead_letters: output: records that could not be judged, unchanged, with the reason in the headers.
        inputs: the topics that others write.
        outputs: the three verdict topics.
        rate_topics: the additional topics for counting rates.
        all: every topic that is always required, inputs first.
    """

    def __init__(self, prefix: str = "") -> None:
        self.answers: Final = f"{prefix}answers"
        self.documents: Final = f"{prefix}documents"
        self.reviews: Final = f"{prefix}reviews"
        self.controls: Final = f"{prefix}controls"
        self.schemas: Final = f"{prefix}schemas"
        self.known_answers: Final = f"{prefix}known-answers"
        self.policies: Final = f"{prefix}policies"
        self.auto_send: Final = f"{prefix}verdicts.auto-send"
        self.review: Final = f"{prefix}verdicts.review"
        self.blocked: Final = f"{prefix}verdicts.blocked"
        self.shadow_verdicts: Final = f"{prefix}shadow-verdicts"
        self.rates: Final = f"{prefix}hallucination-rates"
        self.rate_alerts: Final = f"{prefix}hallucination-alerts"
        self.rates_state: Final = f"{prefix}hallucination-rates.state"
        self.dead_letters: Final = f"{prefix}answers.dead-letters"
        self.inputs: Final = (self.answers, self.documents, self.reviews)
        self.outputs: Final = (self.auto_send, self.review, self.blocked)
        self.rate_topics: Final = (self.rate_alerts, self.rates_state)
        self.all: Final = (
            *self.inputs,
            self.controls,
            self.known_answers,
            self.policies,
            self.schemas,
            *self.outputs,
            self.shadow_verdicts,
            self.rates,
            self.dead_letters,
        )

    def verdict_topic(self, decision: str) -> str:
        """Return the topic of a decision: ``auto_send``, ``review`` or ``blocked``; otherwise KeyError."""
        return {"auto_send": self.auto_send, "review": self.review, "blocked": self.blocked}[decision]


_SECOND_MS = 1_000
_HOUR_SECONDS = 3_600
_DAY_SECONDS = 24 * _HOUR_SECONDS
# Key, headers and batch overhead, in addition to the value.
_OVERHEAD_BYTES = 65_536
# From this replication factor on, a message is acknowledged only when two brokers have it.
_SAFE_REPLICATION, _SAFE_IN_SYNC = 3, 2
# The owner chooses retention and the like; these keys decide whether data can be lost.
_AT_LEAST = ("max.message.bytes", "delete.retention.ms")
_EXACTLY = ("cleanup.policy", "unclean.leader.election.enable")
_IN_SYNC = "min.insync.replicas"
# With less, an outage at night that is repaired in the morning loses the data of its first hours.
_MIN_RETENTION_SECONDS = _DAY_SECONDS
# Longer than the age at which a worker rebuilds its store (20 hours), which must see every tombstone.
_TOMBSTONE_SECONDS = _DAY_SECONDS
# A verdict repeats question and answer, and quotes the answer again as evidence.
_VERDICT_FACTOR = 4

# The progress of counting has two offsets per verdict partition; no other record is larger.
_STATE_BYTES = 2 * 1024 * 1024
#: Not ``topics.partitions``: tools such as Strimzi would add partitions to the topic when that is raised, and
#: a compacted topic must keep its number. Every worker reads all of them.
_DOCUMENT_PARTITIONS = 6
# A pause states who and why in some hundred characters, a known answer has the ids of twenty reviews.
_CONTROL_BYTES = 64 * 1024
# The rates' state is written every few seconds and read entirely by each new leader: it must stay short.
# The open segment is never compacted, and transaction markers stay as long as tombstones.
_STATE: Mapping[str, str] = {
    "cleanup.policy": "compact",
    "segment.bytes": str(4 * 1024 * 1024),
    "segment.ms": str(_HOUR_SECONDS * _SECOND_MS),
    "delete.retention.ms": str(_HOUR_SECONDS * _SECOND_MS),
    "min.cleanable.dirty.ratio": "0.1",
}
# Every worker reads all pauses before it judges, and a schema is needed as long as there are records of it:
# only superseded ones may be removed.
_CONTROLS_CONFIG: Mapping[str, str] = {
    "cleanup.policy": "compact",
    "delete.retention.ms": str(_DAY_SECONDS * _SECOND_MS),
}


@dataclass(frozen=True, slots=True)
class MessageLimits:
    """The maximum message size (bytes, with key and headers) of each kind of topic."""

    input: int
    verdict: int
    dead_letter: int


@dataclass(frozen=True, slots=True)
class RetentionAdvice:
    """The recommended minimum retention (seconds), and the consequence of less."""

    seconds: float
    consequence: str


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """The specification of one topic; ``replication`` -1 is the cluster's default.

    ``retention`` is a recommendation: a topic with less gets a warning.
    """

    name: str
    partitions: int
    replication: int
    config: Mapping[str, str]
    retention: RetentionAdvice | None = None

    @property
    def keeps_partitions(self) -> bool:
        """Whether an existing topic must keep its number of partitions, since it is compacted.

        The records of a key would be in two partitions, and a deleted document could come back.
        """
        return self.config["cleanup.policy"] == "compact"


class Requirement(StrEnum):
    """How strictly a topic must match a value of its specification."""

    EXACTLY = "exactly"
    AT_LEAST = "at least"
    ADVISED = "advised"


@dataclass(frozen=True, slots=True)
class ActualTopic:
    """A topic as it is on the cluster."""

    partitions: int
    replication: int
    config: Mapping[str, str]


def message_limits(settings: Settings) -> MessageLimits:
    """Return the maximum message sizes of the topics; a producer's limit is the largest."""
    largest = settings.encoding.max_value_bytes
    return MessageLimits(
        input=largest + _OVERHEAD_BYTES,
        verdict=_VERDICT_FACTOR * largest + _OVERHEAD_BYTES,
        dead_letter=largest + 2 * _OVERHEAD_BYTES,
    )


def topic_specifications(settings: Settings) -> tuple[TopicSpec, ...]:
    """Return the specifications in the order of ``Topics.all``; then those of rates, if enabled."""
    topics, limits = Topics(settings.kafka.topic_prefix), message_limits(settings)
    sizes = dict.fromkeys(topics.all, limits.input)
    sizes.update(dict.fromkeys((*topics.outputs, topics.shadow_verdicts), limits.verdict))
    sizes |= {topics.dead_letters: limits.dead_letter}
    sizes |= dict.fromkeys((topics.controls, topics.known_answers), _CONTROL_BYTES)
    if settings.rates.enabled:
        sizes.update(dict.fromkeys(topics.rate_topics, _STATE_BYTES))
    own = {
        topics.documents: _compacted(),
        **dict.fromkeys(topics.outputs, _deleted(settings.topics.verdict_retention_days)),
        topics.reviews: {"cleanup.policy": "delete", "retention.ms": "-1"},
        topics.controls: dict(_CONTROLS_CONFIG),
        topics.schemas: dict(_CONTROLS_CONFIG),
        topics.known_answers: dict(_CONTROLS_CONFIG),
        topics.policies: dict(_CONTROLS_CONFIG),
        topics.rates_state: dict(_STATE),
    }
    single = (topics.controls, topics.schemas, topics.known_answers, topics.policies, topics.rates_state)
    partitions = {topics.documents: _DOCUMENT_PARTITIONS} | dict.fromkeys(single, 1)
    keeping = _retention_advice(settings, topics)
    return tuple(
        TopicSpec(
            name,
            partitions.get(name, settings.topics.partitions),
            settings.topics.replication_factor,
            _common_config(settings, size) | own.get(name, _deleted(settings.topics.retention_days)),
            keeping.get(name),
        )
        for name, size in sizes.items()
    )


def requirement_of(key: str) -> Requirement:
    """Return how strictly a configuration key must match; other keys are the owner's choice."""
    if key in _EXACTLY:
        return Requirement.EXACTLY
    return Requirement.AT_LEAST if key in (*_AT_LEAST, _IN_SYNC) else Requirement.ADVISED


def spec_differences(
    spec: TopicSpec, actual: ActualTopic, *, any_partitions: bool = False
) -> tuple[str, ...]:
    """Return the requirements that a topic does not meet; one that exceeds them is fine.

    ``any_partitions`` permits fewer partitions too, which a compacted topic may always have.
    """
    problems = []
    if actual.partitions < spec.partitions and not (any_partitions or spec.keeps_partitions):
        problems.append(f"has {actual.partitions} of {spec.partitions} partitions")
    if actual.replication < spec.replication:
        problems.append(f"has replication factor {actual.replication}, {spec.replication} wanted")
    in_sync = int(actual.config.get(_IN_SYNC, _SAFE_IN_SYNC))
    if actual.replication >= _SAFE_REPLICATION and in_sync < _SAFE_IN_SYNC:
        problems.append(f"has min.insync.replicas {in_sync}, 2 wanted: one broker could lose a message")
    for key in (*_EXACTLY, *_AT_LEAST):
        wanted, found = spec.config.get(key), actual.config.get(key)
        if wanted is None or found is None:
            continue
        enough = int(found) >= int(wanted) if key in _AT_LEAST else found == wanted
        if not enough:
            problems.append(f"has {key} {found}, {wanted} wanted")
    return tuple(problems)


def retention_warnings(spec: TopicSpec, actual: ActualTopic) -> tuple[str, ...]:
    """Return warnings about a retention below the recommendation, which is the owner's choice."""
    if spec.retention is None:
        return ()
    retention, size = (
        int(actual.config.get("retention.ms", -1)),
        int(actual.config.get("retention.bytes", -1)),
    )
    least = round(spec.retention.seconds * _SECOND_MS)
    warnings = []
    if 0 <= retention < least:
        warnings.append(f"has retention.ms {retention}, less than {least}: {spec.retention.consequence}")
    if size >= 0:
        warnings.append(f"has retention.bytes {size}, however old they are: {spec.retention.consequence}")
    return tuple(warnings)


def _retention_advice(settings: Settings, topics: Topics) -> Mapping[str, RetentionAdvice]:
    answers = RetentionAdvice(_MIN_RETENTION_SECONDS, "answers that no worker has read by then are lost")
    letters = RetentionAdvice(_MIN_RETENTION_SECONDS, "dead letters that nobody has read by then are lost")
    advice = {topics.answers: answers, topics.dead_letters: letters}
    if settings.rates.enabled:
        # A new leader reads the verdicts of all windows again that are not final.
        largest = max(window.size_seconds for window in settings.rates.windows)
        counted = RetentionAdvice(
            max(_MIN_RETENTION_SECONDS, largest + settings.rates.retention_seconds),
            "rates that are recounted after a restart lack the deleted verdicts",
        )
        advice |= dict.fromkeys(topics.outputs, counted)
    if settings.desk.audit_share:
        fitted = 2 * settings.desk.blocked_time_limit_seconds
        if topics.review not in advice or fitted > advice[topics.review].seconds:
            lacking = "`policy fit`, which waits for ratings so long, finds few verdicts or none"
            advice |= dict.fromkeys(topics.outputs, RetentionAdvice(fitted, lacking))
    return advice


def _common_config(settings: Settings, size: int) -> dict[str, str]:
    config = {
        "max.message.bytes": str(size),
        "unclean.leader.election.enable": "false",
        # Retention counts from arrival: otherwise a sender with a wrong clock, or a replayed log, would have
        # its answers removed before they are read. And a document's versions are in force from their records'
        # times. The owner of an existing topic may choose the senders' times nevertheless.
        "message.timestamp.type": "LogAppendTime",
    }
    if settings.topics.replication_factor >= _SAFE_REPLICATION:
        config[_IN_SYNC] = str(_SAFE_IN_SYNC)
    return config


def _deleted(days: float) -> dict[str, str]:
    return {"cleanup.policy": "delete", "retention.ms": str(round(days * _DAY_SECONDS * _SECOND_MS))}


def _compacted() -> dict[str, str]:
    return {
        "cleanup.policy": "compact",
        "delete.retention.ms": str(_TOMBSTONE_SECONDS * _SECOND_MS),
        # The open segment is never compacted; a week of it would be read at every first start.
        "segment.ms": str(_DAY_SECONDS * _SECOND_MS),
    }
