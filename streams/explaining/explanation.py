"""The values of an explanation of a verdict, and what to do next by reason."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from aiokafka import ConsumerRecord
from opentelemetry.trace import get_current_span

from schemas.records import Verdict
from scoring.policy.thresholds import Thresholds
from scoring.values.rules import Reason
from streams.kafka.kafka_records import Headers
from streams.observability.span_attributes import extract_context


@dataclass(frozen=True, slots=True)
class VerdictLocation:
    """The place of a verdict: ``partition`` and ``offset`` of a topic, or the ``line`` of a file, from 1."""

    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        """Return ``verdicts.review 0:12``, or ``verdicts.jsonl, line 3``."""
        if self.topic is not None:
            return f"{self.topic} {self.partition}:{self.offset}"
        return f"{self.file}, line {self.line}"


@dataclass(frozen=True, slots=True)
class LocatedVerdict:
    """A verdict and its record: ``written_at`` is the record's time, aware; ``trace_id`` is hexadecimal."""

    verdict: Verdict
    location: VerdictLocation | None = None
    written_at: datetime | None = None
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class RepeatedVerdict:
    """Another verdict on the same answer; ``differs`` names the fields that differ, but for the time."""

    place: VerdictLocation | None
    written_at: datetime | None
    scored_at: datetime
    decision: str
    reasons: tuple[str, ...]
    score: float | None
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReasonExplanation:
    """A reason of the decision: code, meaning, and what to do; empty if not known."""

    code: str
    meaning: str
    to_do: str


class RuleRole(StrEnum):
    """The role of a rule in the decision."""

    #: The rule decided.
    DECIDED = "decided"
    #: The rule is among the reasons, but something else decided.
    NAMED = "named"
    #: Another rule took precedence.
    OUTWEIGHED = "outweighed"


@dataclass(frozen=True, slots=True)
class RuleExplanation:
    """A rule whose evidence was found: ``effect`` is block, review or send.

    ``contradiction``, in [0, 1], is how certainly it contradicts the answer; ``kinds`` are those of its
    evidence, and ``features`` found it.
    """

    reason: str
    meaning: str
    effect: str
    role: RuleRole
    contradiction: float
    kinds: tuple[str, ...]
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FeatureExplanation:
    """What a feature measures, in a sentence, and the reasons of the rules that its evidence triggered."""

    name: str
    meaning: str
    rules: tuple[str, ...]


class ScoreOrigin(StrEnum):
    """The origin of a score."""

    #: Support by the documents was the lower of the two.
    SUPPORT = "support"
    #: Contradiction by the documents gave the lower of the two.
    CONTRADICTION = "contradiction"
    RULE = "rule"
    #: The mean of all applicable features.
    MEAN = "mean"
    #: Another release computed it differently.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ScoreExplanation:
    """A score in [1, 5] and its origin, both None without a score.

    ``of_support`` and ``of_contradiction`` are the scores that each alone would give, None if not known.
    """

    value: float | None
    made_by: ScoreOrigin | None
    of_support: float | None
    of_contradiction: float | None


@dataclass(frozen=True, slots=True)
class PolicyExplanation:
    """The policy that decided; ``thresholds`` are those for such answers, None if the policy is not known."""

    version: str
    thresholds: Thresholds | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything about one verdict.

    ``reasons`` includes what could not be checked. ``seconds`` is the time from answer to verdict, below 0 if
    clocks disagree. ``repeats`` are other verdicts on the same answer, the earliest first.
    """

    verdict: Verdict
    place: VerdictLocation | None
    written_at: datetime | None
    trace_id: str | None
    reasons: tuple[ReasonExplanation, ...]
    rules: tuple[RuleExplanation, ...]
    features: tuple[FeatureExplanation, ...]
    score: ScoreExplanation
    policy: PolicyExplanation
    seconds: float
    repeats: tuple[RepeatedVerdict, ...] = ()


def locate_verdict(record: ConsumerRecord, verdict: Verdict) -> LocatedVerdict:
    """Return a verdict with the location and time of its record."""
    written_at = datetime.fromtimestamp(record.timestamp / 1000, UTC) if record.timestamp > 0 else None
    place = VerdictLocation(record.topic, record.partition, record.offset)
    return LocatedVerdict(verdict, place, written_at, trace_id(tuple(record.headers)))


def trace_id(headers: Headers) -> str | None:
    """Return the trace id of a record as 32 hexadecimal digits, or None."""
    if (context := extract_context(headers)) is None:
        return None
    return f"{get_current_span(context).get_span_context().trace_id:032x}"


#: By the code of a reason or rule: what a support lead does about the answer, and an engineer about others
#: like it.
NEXT_STEPS: Final[dict[str, str]] = {
    Reason.LOW_SCORE: (
        "Read the claims that were not found: what none of the documents says may be made up. If it "
        "is true, a document is missing or was not given to the chatbot."
    ),
    Reason.MIDDLE_SCORE: (
        "Compare the marked words with their passages, then send or correct the answer. If too "
        "many wait, ask language models about them (judges.endpoints), or look at thresholds with "
        "`truthgate evaluate --auto-send-at`."
    ),
    Reason.LOW_RISK: (
        "Nothing. If it is untrue after all, rate it at the desk. `truthgate policy show` has the promise."
    ),
    Reason.HIGH_RISK: (
        "Nothing. If it is true after all, rate it at the desk. `truthgate policy show` has the promise."
    ),
    Reason.RISK_NOT_COVERED: (
        "Judge it by hand. `truthgate policy show` has what the policy promises to send; more ratings let "
        "`truthgate policy fit` promise more."
    ),
    Reason.POLICY_WITHDRAWN: (
        "Judge it by hand. `truthgate policy show` says who withdrew the policy and why; `truthgate policy "
        "approve` approves another one, or `settings`."
    ),
    Reason.POLICY_UNKNOWN: (
        "Send it by hand if it is right, and see why the policies cannot be read: alert "
        "TruthgatePolicyUnknown in the runbook."
    ),
    Reason.KNOWN_TRUE: "Nothing. If it is untrue after all, a lead ends it at the desk, at /known-answers.",
    Reason.KNOWN_UNTRUE: "Nothing. If it is true after all, a lead ends it at the desk, at /known-answers.",
    Reason.HIGH_SCORE: "Nothing. If it is untrue after all, raise policy.auto_send_at for such answers.",
    Reason.MESSAGE_TYPE_NOT_SCORED: (
        "Judge it by hand. Profile truthgate scores every type (scoring.profile); policy.unscored "
        "decides the others."
    ),
    Reason.NO_APPLICABLE_FEATURE: "Read it: it makes no statement that could be compared with a document.",
    Reason.REFUSAL: "Answer the question by hand, and see whether a document on it is missing.",
    Reason.LANGUAGE_UNSUPPORTED: (
        "Judge it by hand. If such questions are frequent, set up a translator "
        "(translation.provider), or have the chatbot name the language."
    ),
    Reason.CONTEXT_MISSING: (
        "Publish the documents that it names (`truthgate documents list` shows those that are there),"
        " or have the chatbot send its context."
    ),
    Reason.CONTEXT_INSUFFICIENT: (
        "See what is found (`truthgate search QUESTION`): a document on the question may be missing."
    ),
    Reason.RETRIEVAL_UNAVAILABLE: (
        "Judge it by hand, and see in the worker's log and /readyz why the search failed."
    ),
    Reason.CONTEXT_LANGUAGE_DIFFERS: (
        "Publish the documents in the answer's language, or set up a translator (translation.provider)."
    ),
    Reason.DOCUMENTS_STALE: (
        "Judge it by hand, and see why the worker's documents lag: alert TruthgateDocumentsStale in "
        "the runbook."
    ),
    Reason.TRANSLATION_UNAVAILABLE: (
        "Judge it by hand, and see whether the translator answers (translation.base_url)."
    ),
    Reason.VERIFIER_TIMEOUT: (
        "Judge it by hand. If there are many, give the workers more processors, or "
        "scoring.verifier.timeout_seconds a higher value."
    ),
    Reason.VERIFIER_FAILED: (
        "Judge it by hand, and try the model of scoring.verifier.folder on this answer with truthgate score."
    ),
    Reason.SCORING_TIMEOUT: (
        "Judge it by hand. If there are many, give the workers more processors, or "
        "scoring.timeout_seconds a higher value."
    ),
    Reason.SCORING_DISABLED: "Judge it by hand, or switch judging on (scoring.enabled).",
    Reason.SENDING_PAUSED: (
        "Send it by hand if it is right. `truthgate paused` shows who paused what and why; `truthgate "
        "resume` resumes it."
    ),
    Reason.PAUSES_UNKNOWN: (
        "Send it by hand if it is right, and see why the pauses cannot be read: alert "
        "TruthgatePausesUnknown in the runbook."
    ),
    Reason.JUDGED_TRUE: (
        "Nothing. If it is untrue after all, raise policy.send_confidence, or narrow policy.ask."
    ),
    Reason.JUDGED_UNTRUE: (
        "Look at the words that the language model calls wrong. If they are right, raise "
        "policy.block_confidence."
    ),
    Reason.JUDGED_PARTLY_UNTRUE: (
        "Look at the words that the language model calls wrong, then send or correct the answer."
    ),
    Reason.JUDGED_DECLINED: (
        "Answer the question by hand, and see whether a document on it is missing. To have such answers "
        "sent, set policy.declined."
    ),
    Reason.JUDGED_NOT_GIVEN: "Answer the question by hand, and see whether a document on it is missing.",
    Reason.JUDGES_DISAGREE: "Read both opinions, then send or correct the answer.",
    Reason.JUDGE_NOT_CONFIDENT: (
        "Compare the marked words with their passages, then send or correct the answer. If the language "
        "model is right most of the time, lower policy.send_confidence."
    ),
    Reason.JUDGE_MALFORMED: (
        "Judge it by hand. If many replies are like this, raise the judge's max_tokens, or name a model that "
        "follows a JSON schema."
    ),
    Reason.JUDGE_UNSURE: "Compare the marked words with their passages, then send or correct the answer.",
    Reason.JUDGE_UNAVAILABLE: (
        "Judge it by hand, and see whether the language model answers: alert TruthgateJudgeFailing in"
        " the runbook."
    ),
    Reason.JUDGE_BUDGET_SPENT: "Judge it by hand, or raise judges.budget.",
    "undefined_component": (
        "Look the marked name up in the product. If it is there, the document that names it is "
        "missing or old; if not, the answer is made up."
    ),
    "unknown_number": (
        "Look the marked number up. If it is right, the document that has it is missing or old; if "
        "not, the answer is made up."
    ),
    "error_mismatch": "Correct the answer: it explains another error than the question is about.",
    "derived_number": "Do the computation by the documents' numbers, then send or correct the answer.",
    "refuted_figure": "Count again, following the derivation of the claim, then send or correct the answer.",
    "contradicted_value": "Compare the claim with its row or sentence, then correct the answer.",
    "action_claimed": (
        "See whether it was done. If not, do it or tell the customer; a chatbot that can act should say "
        "so in its documents."
    ),
    "courtesy": "Nothing. If it was more than courtesy, report it to whoever maintains the lexicon.",
    "verbatim_document": "Nothing. If it is wrong, correct its document, or remove its mark auto_send.",
}


def next_step(code: str) -> str | None:
    """Return what to do about an answer with this reason, or None for an unknown code."""
    return NEXT_STEPS.get(code)
