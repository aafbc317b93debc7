"""Rules and reason codes: what follows from evidence, and why an answer was sent, held or blocked."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from scoring.values.checked_claims import ClaimStatus


class Code(StrEnum):
    """A stable code; ``description`` says in one sentence, or a few words, what it means."""

    description: str

    def __new__(cls, code: str, description: str) -> Self:
        """Make a member whose value is the code and that carries its description."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.description = description
        return member


class RuleEffect(StrEnum):
    """What becomes of an answer by a rule, whatever the thresholds: the first two set its score to 1."""

    BLOCK = "blocks"
    #: For a rule that takes too many true answers for untrue: a person decides.
    REVIEW = "holds"
    #: The only one that sets the score to 5.
    SEND = "sends"


@dataclass(frozen=True, slots=True)
class Rule:
    """What follows from evidence, with the reason that a verdict then has.

    ``reason`` is a stable code, and ``description`` says in one sentence what it means. ``contradiction``, in
    [0, 1], is how surely its evidence speaks against the answer: about the share of untrue answers among
    those where it is found. A claim with such evidence has ``status``, and ``mistake`` as the kind of its
    mistake (paper, Table II); None where the evidence is of no claim. ``uses_documents`` is False for a rule
    that holds whatever the documents say.
    """

    reason: str
    description: str
    effect: RuleEffect
    contradiction: float = 0.0
    status: ClaimStatus | None = None
    mistake: str | None = None
    uses_documents: bool = True

    def __str__(self) -> str:
        """Return the code of the reason."""
        return self.reason

    @property
    def counts_against_answer(self) -> bool:
        """Whether its evidence shows what is wrong, and not what was recognised."""
        return self.effect is not RuleEffect.SEND


#: Kinds of evidence, stable codes, each with the rule that follows from it, None where none does.
EvidenceRules = tuple[tuple[str, Rule | None], ...]


class Reason(Code):
    """A stable code of a verdict."""

    LOW_SCORE = "low_score", "The score is below the threshold under which an answer is blocked."
    MIDDLE_SCORE = "middle_score", "The score is between the two thresholds, so a person decides."
    HIGH_SCORE = "high_score", "The score reaches the threshold from which an answer is sent."
    MESSAGE_TYPE_NOT_SCORED = (
        "message_type_not_scored",
        "The profile does not score this type of question, so the answer was not judged.",
    )
    NO_APPLICABLE_FEATURE = (
        "no_applicable_feature",
        "Nothing in the answer could be measured, so there is no score.",
    )
    REFUSAL = (
        "refusal",
        "The answer says that it has none, such as that it is not in the documents.",
    )
    LANGUAGE_UNSUPPORTED = (
        "language_unsupported",
        "The language of the question and answer is not known well enough to judge the answer.",
    )
    CONTEXT_MISSING = (
        "context_missing",
        "Some or all of the documents that the answer rests on could not be found.",
    )
    CONTEXT_INSUFFICIENT = (
        "context_insufficient",
        "The answer came without documents, and none was found that is about the question.",
    )
    RETRIEVAL_UNAVAILABLE = (
        "retrieval_unavailable",
        "The answer came without documents, and they could not be searched.",
    )
    CONTEXT_LANGUAGE_DIFFERS = (
        "context_language_differs",
        "Some of the documents are in another language than the answer.",
    )
    DOCUMENTS_STALE = (
        "documents_stale",
        "The local copy of the documents, or the index that was searched, may be out of date.",
    )
    TRANSLATION_UNAVAILABLE = (
        "translation_unavailable",
        "The answer could not be translated in time, so it was judged as it is.",
    )
    VERIFIER_TIMEOUT = (
        "verifier_timeout",
        "The verifier had not the time for all claims in doubt: of the others their words decided.",
    )
    VERIFIER_FAILED = (
        "verifier_failed",
        "The verifier failed on the claims in doubt, so their words decided.",
    )
    SCORING_TIMEOUT = "scoring_timeout", "Judging the answer took longer than it may."
    SCORING_DISABLED = "scoring_disabled", "Judging answers is switched off."
    SENDING_HELD = "sending_held", "The answer would have been sent by itself, but sending is held for now."
    HOLDS_UNKNOWN = (
        "holds_unknown",
        "The answer would have been sent by itself, but whether sending is held could not be read.",
    )
    JUDGED_TRUE = "judged_true", "A language model is sure enough that the documents say so."
    JUDGED_UNTRUE = "judged_untrue", "A language model is sure enough that the documents do not say so."
    JUDGED_PARTLY_UNTRUE = (
        "judged_partly_untrue",
        "A language model is sure enough that a part of the answer or a detail is not right.",
    )
    JUDGED_DECLINED = (
        "judged_declined",
        "The answer says that it has none, and a language model is sure enough that this is right.",
    )
    JUDGED_NOT_GIVEN = (
        "judged_not_given",
        "A language model is sure that the answer declines, or is about something else than the question.",
    )
    JUDGES_DISAGREE = (
        "judges_disagree",
        "Of two language models that were asked, one finds the answer true and the other untrue.",
    )
    JUDGE_UNSURE = (
        "judge_unsure",
        "A language model was asked about the answer, and is not sure enough or did not read all documents.",
    )
    JUDGE_UNAVAILABLE = (
        "judge_unavailable",
        "The answer was in doubt, and no language model gave an opinion on it in time.",
    )
    JUDGE_BUDGET_SPENT = (
        "judge_budget_spent",
        "The answer was in doubt, and the budget for asking language models was spent.",
    )
