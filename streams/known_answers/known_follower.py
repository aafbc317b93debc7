"""Follows the topic `known-answers`; while it cannot be read, nothing is known."""

from collections.abc import Iterable

import structlog
from aiokafka import ConsumerRecord

from streams.kafka.topic_follower import keep_following
from streams.known_answers.known_state import KnownAnswers
from streams.observability.instruments import Instruments, MetricLabel
from streams.settings import KafkaSettings

log = structlog.get_logger(__name__)


class KnownAnswersFollower:
    """Keeps known answers up to date with the topic; whatever Kafka does, the worker goes on without them.

    Args:
        known: what is kept up to date.
        kafka: of the cluster.
        topic: the full name.
    """

    def __init__(self, known: KnownAnswers, kafka: KafkaSettings, topic: str) -> None:
        self.freshness = known.freshness
        self._known = known
        self._kafka = kafka
        self._topic = topic
        self._was_current: bool | None = None

    async def run(self) -> None:
        """Follow until cancelled."""
        await keep_following(self, "the known answers", self._kafka, self._topic, self._on_lost)

    def apply(self, records: Iterable[ConsumerRecord]) -> None:
        """Apply records in their order."""
        self._known.apply(records)

    def on_poll(self) -> None:
        """Log whether the known answers count from now on, or no longer."""
        current = self.freshness.is_current
        if current and not self._was_current:
            log.info("known_answers_read", answers=sum(self._known.counts().values()))
        elif not current and self._was_current:
            log.warning("known_answers_outdated")
        self._was_current = current

    def _on_lost(self, code: str) -> None:
        if code == "replaced":
            log.warning("known_answers_topic_replaced")
        elif self._was_current is not False:
            log.warning("known_answers_unknown", error_type=code)
        self._was_current = False
        self._known.forget()


class KnownAnswerMetrics:
    """The metrics of known answers."""

    def __init__(self, instruments: Instruments) -> None:
        self._answers = instruments.gauge(
            "truthgate.known_answers",
            "Answers about which persons decided, by state; `unreadable` counts records since the start.",
            "`unreadable` above 0: the log line `known_answer_unreadable`, and who may write to the topic.",
            MetricLabel("state"),
            unit="{answer}",
        )
        self._current = instruments.gauge(
            "truthgate.known_answers_current",
            "Whether the worker has read the known answers to their end in the last ten seconds (1); if not "
            "(0), it uses none.",
            "The log lines `known_answers_unknown` and `known_answers_outdated`; the brokers.",
        )

    def watch(self, known: KnownAnswers) -> None:
        """Show what is known, whenever it is asked."""
        self._answers.set_labelled_function(
            lambda: {(state,): n for state, n in {**known.counts(), "unreadable": known.unreadable}.items()}
        )
        self._current.set_function(lambda: known.freshness.is_current)
