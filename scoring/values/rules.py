"""Rules and reason codes: what follows from evidence, and why an answer was sent, reviewed or blocked."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from scoring.values.checked_claims import ClaimStatus


class Code(StrEnum):
    """A stable code with a ``description`` of a sentence or a few words."""

    description: str

    def __new__(cls, code: str, description: str) -> Self:
        """Create a member whose value is the code."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.description = description
        return member


class RuleEffect(StrEnum):
    """A rule's decision, whatever the thresholds; BLOCK and REVIEW set the score to 1, SEND to 5."""

    BLOCK = "block"
    #: For a rule with too many false positives to block.
    REVIEW = "review"
    SEND = "send"


@dataclass(frozen=True, slots=True)
class Rule:
    """What follows from evidence, with the reason for the verdict.

    ``reason``: a stable code, described in one sentence by ``description``. ``contradiction``: how strongly
    the evidence contradicts the answer, in [0, 1]; about the share of untrue answers among those that have
    it. ``status`` and ``mistake``: given to a claim with such evidence (paper, Table II); None where the
    evidence is not about a claim. ``uses_documents``: False for a rule that holds without any document.
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
        """Whether the evidence shows a fault, rather than something recognised."""
        return self.effect is not RuleEffect.SEND


#: Pairs of a kind of evidence (a stable code) and the rule that follows from it, if any.
EvidenceRules = tuple[tuple[str, Rule | None], ...]


class Reason(Code):
    """A stable code of a verdict."""

    LOW_SCORE = "low_score", "The score is below the threshold for blocking."
    MIDDLE_SCORE = "middle_score", "The score is between the thresholds for blocking and sending."
    HIGH_SCORE = "high_score", "The score reaches the threshold for sending."
    MESSAGE_TYPE_NOT_SCORED = "message_type_not_scored", "The profile does not score this type of question."
    NO_APPLICABLE_FEATURE = (
        "no_applicable_feature",
        "Nothing in the answer could be measured, so there is no score.",
    )
    REFUSAL = "refusal", "The answer says that it has none, for example that it is not in the documents."
    LANGUAGE_UNSUPPORTED = "language_unsupported", "The language is unknown, or is not supported."
    CONTEXT_MISSING = (
        "context_missing",
        "Some or all of the documents that the answer rests on could not be found.",
    )
    CONTEXT_INSUFFICIENT = (
        "context_insufficient",
        "The answer came without documents, and none was found about the question.",
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
        "The local copy of the documents, or the search index, may be out of date.",
    )
    TRANSLATION_UNAVAILABLE = (
        "translation_unavailable",
        "The answer could not be translated in time, so it was scored untranslated.",
    )
    VERIFIER_TIMEOUT = (
        "verifier_timeout",
        "The verifier ran out of time; word overlap decided on the remaining claims.",
    )
    VERIFIER_FAILED = (
        "verifier_failed",
        "The verifier failed, so word overlap decided on the claims in doubt.",
    )
    SCORING_TIMEOUT = "scoring_timeout", "Scoring the answer exceeded its timeout."
    SCORING_DISABLED = "scoring_disabled", "Scoring is switched off."
    SENDING_PAUSED = "sending_paused", "The answer would have been sent, but sending is paused."
    PAUSES_UNKNOWN = (
        "pauses_unknown",
        "The answer would have been sent, but whether sending is paused could not be read.",
    )
    LOW_RISK = (
        "low_risk",
        "The risk that the answer is untrue is as low as a certificate of the policy promises.",
    )
    HIGH_RISK = (
        "high_risk",
        "The risk that the answer is untrue is as high as a certificate of the policy promises.",
    )
    RISK_NOT_COVERED = (
        "risk_not_covered",
        "The answer would have been sent by score or opinion, but no certificate of the policy covers it.",
    )
    POLICY_WITHDRAWN = (
        "policy_withdrawn",
        "The answer would have been sent, but the policy was withdrawn, for all answers or such ones.",
    )
    POLICY_UNKNOWN = (
        "policy_unknown",
        "The answer would have been sent, but which policy decides could not be read.",
    )
    KNOWN_TRUE = (
        "known_true",
        "A person sent the same answer to the same question, with the same documents, or labelled it true.",
    )
    KNOWN_UNTRUE = (
        "known_untrue",
        "A person rejected the same answer to the same question, with the same documents, or found it wrong.",
    )
    JUDGED_TRUE = "judged_true", "A language model is confident that the documents say so."
    JUDGED_UNTRUE = "judged_untrue", "A language model is confident that the documents do not say so."
    JUDGED_PARTLY_UNTRUE = (
        "judged_partly_untrue",
        "A language model is confident that a part or a detail of the answer is wrong.",
    )
    JUDGED_DECLINED = (
        "judged_declined",
        "The answer rightly says that it has none, according to a confident language model.",
    )
    JUDGED_NOT_GIVEN = (
        "judged_not_given",
        "A language model is confident that the answer declines or misses the question.",
    )
    JUDGES_DISAGREE = "judges_disagree", "One language model finds the answer true and another one untrue."
    JUDGE_NOT_CONFIDENT = (
        "judge_not_confident",
        "The language model is less confident than the policy requires.",
    )
    JUDGE_MALFORMED = (
        "judge_malformed",
        "The language model's reply was empty, cut off, or not of the requested form.",
    )
    JUDGE_UNSURE = (
        "judge_unsure",
        "The language model came to no conclusion, or did not read all documents.",
    )
    JUDGE_UNAVAILABLE = (
        "judge_unavailable",
        "The answer was in doubt, and no language model gave an opinion in time.",
    )
    JUDGE_BUDGET_SPENT = (
        "judge_budget_spent",
        "The answer was in doubt, and the budget for language models was spent.",
    )
