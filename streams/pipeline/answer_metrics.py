"""Metrics of answers on their way to a verdict or a dead letter."""

import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import product
from typing import Final

from schemas.records import Verdict
from scoring.text.language_detection import UNDETERMINED
from scoring.values.exchange import Decision, MessageType
from scoring.values.rules import Reason
from streams.observability.failures import Stage
from streams.observability.instruments import (
    ERROR_TYPE,
    OTHER,
    SHIPPED_LANGUAGES,
    Instruments,
    LabelValues,
    MetricLabel,
    language_label,
)
from streams.pipeline.context import ContextSource

#: The stages that are timed; dead letters have their own: :class:`streams.observability.failures.Stage`.
STAGES: Final = ("decode", "enrich", "translate", "score", "judge", "publish")

#: The degraded codes of a verdict.
DEGRADED_CODES: Final = (
    Reason.CONTEXT_MISSING,
    Reason.CONTEXT_INSUFFICIENT,
    Reason.RETRIEVAL_UNAVAILABLE,
    Reason.CONTEXT_LANGUAGE_DIFFERS,
    Reason.LANGUAGE_UNSUPPORTED,
    Reason.DOCUMENTS_STALE,
    Reason.TRANSLATION_UNAVAILABLE,
    Reason.VERIFIER_TIMEOUT,
    Reason.VERIFIER_FAILED,
    Reason.SCORING_TIMEOUT,
    Reason.SCORING_DISABLED,
    Reason.JUDGE_UNAVAILABLE,
    Reason.JUDGE_BUDGET_SPENT,
)

#: Why a verdict that would have been sent went to review instead.
PAUSE_REASONS: Final = (Reason.SENDING_PAUSED, Reason.PAUSES_UNKNOWN)

#: The known error classes of dead letters; others, such as names of exceptions, can occur.
FAILURE_CODES: Final = {
    Stage.DECODE: (
        "null_value",
        "empty_value",
        "unknown_format",
        "json_not_accepted",
        "invalid_json",
        "unknown_fingerprint",
        "unknown_schema_id",
        "incompatible_schema",
        "wrong_record",
        "truncated",
        "trailing_bytes",
        "malformed",
        "value_too_large",
    ),
    Stage.VALIDATE: ("invalid_record",),
    Stage.ENRICH: (),
    Stage.SCORE: ("ProcessDied", "MemoryError"),
    Stage.PUBLISH: ("MessageSizeTooLargeError", "RecordListTooLargeError"),
}

#: Labels of verdicts on answers of a model that is not set, and of no model.
OTHER_MODEL: Final = "other"
NO_MODEL: Final = "none"

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_STAGE_SECONDS = (0.0005, 0.001, 0.0025, *_SECONDS)
_LATENCY_SECONDS = (*_SECONDS, 300, 1800)
_SCORES = (1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5)

#: Lag and seconds without a commit by partition.
ReadProgress = Callable[[], Mapping[int, tuple[int, float]]]

_DECISION = MetricLabel("decision", tuple(decision.value for decision in Decision))
_MESSAGE_TYPE = MetricLabel("message_type", tuple(kind.value for kind in MessageType))


class AnswerMetrics:
    """The instruments of the pipeline.

    Args:
        instruments: makes them.
        verdict_within: the objective for the time to a verdict, in seconds: a bound of its histogram.
        models: the chatbot's models that are label values; others are ``other``.
        languages: the languages that are label values; others are ``other``.
        now: the clock that the times of records are compared with, in seconds since 1970.
    """

    def __init__(
        self,
        instruments: Instruments,
        verdict_within: float,
        models: Collection[str] = (),
        languages: Collection[str] = SHIPPED_LANGUAGES,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._now = now
        self._languages = languages
        self._models = (*models, NO_MODEL, OTHER_MODEL) if models else ()
        self._count_verdicts(instruments)
        self._count_failures(instruments)
        self._measure_times(instruments, verdict_within)
        self._show_progress(instruments)

    def _count_verdicts(self, instruments: Instruments) -> None:
        self.received = instruments.counter(
            "truthgate.answers",
            "Answers received from the broker, including repeated deliveries.",
            "0 while `truthgate_consumer_lag` grows: the log, `/healthz`, the brokers.",
            unit="{answer}",
        )
        self._verdicts = instruments.counter(
            "truthgate.verdicts",
            "Verdicts published and acknowledged, or returned over HTTP.",
            "More blocked: `truthgate_hallucination_rate`; more for review: `truthgate_degraded_total`.",
            _DECISION,
            _MESSAGE_TYPE,
            MetricLabel("language"),
            unit="{verdict}",
            at_zero=list(product(_DECISION.values, _MESSAGE_TYPE.values, (*self._languages, UNDETERMINED))),
        )
        self._by_model = instruments.counter(
            "truthgate.verdicts_by_model",
            "Verdicts by the model that wrote the answer: one of `telemetry.models`, `other`, or `none`. "
            "Nothing is counted if no models are set.",
            "One model is blocked or reviewed more than others: its prompts, its documents.",
            _DECISION,
            MetricLabel("model"),
            unit="{verdict}",
            at_zero=list(product(_DECISION.values, self._models)),
        )
        self._scores = instruments.histogram(
            "truthgate.score",
            "Scores of the verdicts that have one, from 1 (untrue) to 5.",
            "The verdicts of that type on `verdicts.blocked`; `policy.block_below`, `policy.auto_send_at`.",
            _MESSAGE_TYPE,
            bounds=_SCORES,
        )
        self._contexts = instruments.counter(
            "truthgate.contexts",
            "Verdicts by the source of their passages.",
            "none: the chatbot sends no context, and nothing was found: `truthgate_documents`.",
            MetricLabel("source", tuple(source.value for source in ContextSource)),
            unit="{verdict}",
        )

        self._opinions = instruments.counter(
            "truthgate.opinions",
            "Opinions of language models in verdicts, by method and label, or the reason for having none.",
            "malformed, cut_off: the model or `max_tokens` in `judges.chain`; disagreement: another method.",
            MetricLabel("method"),
            MetricLabel("says"),
            unit="{opinion}",
            at_zero=(),
        )

        self._paused = instruments.counter(
            "truthgate.verdicts_paused",
            "Verdicts for review that would have been sent without a pause.",
            "sending_paused: `truthgate_pauses`; pauses_unknown: `truthgate_pauses_known`.",
            MetricLabel("reason", tuple(reason.value for reason in PAUSE_REASONS)),
            unit="{verdict}",
        )

    def _count_failures(self, instruments: Instruments) -> None:
        self._degraded = instruments.counter(
            "truthgate.degraded",
            "Verdicts for which a check could not be made, by check; one verdict may have several codes.",
            "context_missing, documents_stale: `truthgate_documents`; retrieval_unavailable: "
            "`truthgate_retrieval_complete`; translation_unavailable: `truthgate_translation_breaker`; "
            "verifier_timeout, verifier_failed: the span `verifier` and `scoring.verifier`; "
            "scoring_timeout: `truthgate_scoring_queue`; judge_unavailable: "
            "`gen_ai_client_operation_duration_seconds` by error; judge_budget_spent: "
            "`truthgate_judge_budget_left`.",
            MetricLabel("code", tuple(code.value for code in DEGRADED_CODES)),
            unit="{verdict}",
        )
        self._dead_letters = instruments.counter(
            "truthgate.dead_letters",
            "Answers that became dead letters, by stage and error.",
            "The log line `dead_letter`; `truthgate dead-letters list`.",
            MetricLabel("stage", tuple(stage.value for stage in Stage)),
            ERROR_TYPE,
            unit="{answer}",
            at_zero=[
                (stage.value, code) for stage, codes in FAILURE_CODES.items() for code in (*codes, OTHER)
            ],
        )
        self.dead_letters_waiting = instruments.gauge(
            "truthgate.dead_letters_waiting",
            "Dead letters that were neither replayed nor discarded, counted each minute in all partitions; "
            "absent if the Kafka user may not read the offsets of these groups.",
            "`truthgate dead-letters list`, `replay` and `discard`.",
            unit="{record}",
        )

    def _measure_times(self, instruments: Instruments, verdict_within: float) -> None:
        self.duration = instruments.histogram(
            "truthgate.answer_duration",
            "Time from receiving an answer to its acknowledged verdict or dead letter.",
            "`truthgate_stage_duration_seconds` by stage.",
            bounds=_SECONDS,
            unit="s",
        )
        self._stage_duration = instruments.histogram(
            "truthgate.stage_duration",
            "Time of one stage of the pipeline, waiting included.",
            "score: `truthgate_scoring_queue`, CPU; enrich: `documents.wait_timeout_seconds`, the search; "
            "translate: `truthgate_translation_call_duration_seconds`; publish: the brokers.",
            MetricLabel("stage", STAGES),
            bounds=_STAGE_SECONDS,
            unit="s",
        )
        self._latency = instruments.histogram(
            "truthgate.verdict_latency",
            "Time from the timestamp of an answer's record, or its request, to its verdict, by the clocks of "
            "sender and worker; one bucket ends at `objectives.verdict_within_seconds`.",
            "`truthgate_consumer_lag` (before the worker), `truthgate_answer_duration_seconds` (in it).",
            bounds=sorted({*_LATENCY_SECONDS, verdict_within}),
            unit="s",
        )

    def _show_progress(self, instruments: Instruments) -> None:
        self.in_flight = instruments.gauge(
            "truthgate.answers_in_flight",
            "Answers received and not yet finished.",
            "At `flow.max_in_flight`: `truthgate_scoring_queue`, `truthgate_stage_duration_seconds`.",
            unit="{answer}",
        )
        self._lag = instruments.gauge(
            "truthgate.consumer_lag",
            "Answers behind the end of each partition that this worker owns, while Kafka answers.",
            "`truthgate_scoring_processes_busy`: all busy, add workers; none, "
            "`truthgate_commit_age_seconds`. Absent: `truthgate_kafka_up`.",
            MetricLabel("partition"),
            unit="{answer}",
        )
        self._commit_age = instruments.gauge(
            "truthgate.commit_age",
            "Time since the committed offset of a lagging partition last moved, while Kafka answers.",
            "At `health.stall_timeout_seconds` the worker exits; the log, the brokers.",
            MetricLabel("partition"),
            unit="s",
        )

        self._group_lag = instruments.gauge(
            "truthgate.group_lag",
            "Answers behind the end of each partition, owned by a worker or not; exported by the worker with "
            "partition 0.",
            "`truthgate_group_commit_age_seconds`; more workers.",
            MetricLabel("partition"),
            unit="{answer}",
        )
        self._group_commit_age = instruments.gauge(
            "truthgate.group_commit_age",
            "Time since the committed offset of each lagging partition last moved, owned by a worker or not; "
            "exported by the worker with partition 0.",
            "A partition that no worker owns: workers that were killed, a rebalance that does not end.",
            MetricLabel("partition"),
            unit="s",
        )

    def count_verdict(self, verdict: Verdict, received_at: float | None = None) -> None:
        """Count a verdict that is acknowledged now; ``received_at`` is its answer's time, since 1970."""
        language = language_label(verdict.language, self._languages)
        self._verdicts.add(verdict.decision, verdict.message_type, language)
        if self._models:
            model = verdict.model or NO_MODEL  # an unknown value would be a label without bounds
            self._by_model.add(verdict.decision, model if model in self._models else OTHER_MODEL)
        self._contexts.add(verdict.context_source)
        for code in verdict.degraded:
            self._degraded.add(code)
        if verdict.reasons and verdict.reasons[0] in PAUSE_REASONS:
            self._paused.add(verdict.reasons[0])
        for opinion in verdict.opinions:
            self._opinions.add(opinion.method, opinion.label or opinion.unsure or OTHER)
        if verdict.score is not None:
            self._scores.record(verdict.score, verdict.message_type)
        if received_at is not None:
            # Clocks of two machines differ: a verdict from before its answer took no time.
            self._latency.record(max(0.0, self._now() - received_at))

    def count_dead_letter(self, stage: str, error_type: str) -> None:
        """Count a dead letter that is acknowledged now."""
        self._dead_letters.add(stage, error_type)

    def observe_stage(self, stage: str, seconds: float) -> None:
        """Measure one of the STAGES of one answer."""
        self._stage_duration.record(seconds, stage)

    def watch_progress(self, owned: ReadProgress, group: ReadProgress) -> None:
        """Export lag and seconds without a commit of the partitions of these functions, from any thread."""
        for read, lag, commit_age in (
            (owned, self._lag, self._commit_age),
            (group, self._group_lag, self._group_commit_age),
        ):
            lag.set_labelled_function(partial(_by_partition, read, 0))
            commit_age.set_labelled_function(partial(_by_partition, read, 1))


def _by_partition(read: ReadProgress, at: int) -> dict[LabelValues, float]:
    return {(str(partition),): progress[at] for partition, progress in read().items()}
