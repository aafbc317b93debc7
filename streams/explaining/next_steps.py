"""What a person can do about an answer, by the reason of its verdict."""

from __future__ import annotations

from typing import Final

from scoring.values.reasons import Reason

#: By the code of a reason, a rule's too: what a support lead does about the answer, and an engineer about
#: more like it.
NEXT_STEPS: Final[dict[str, str]] = {
    Reason.LOW_SCORE: (
        "Read the claims that were not found: what none of the documents says may be made up. If it "
        "is true, a document is missing or was not given to the chatbot."
    ),
    Reason.MIDDLE_SCORE: (
        "Compare what is marked with the passages beside it, then send or correct the answer. If too "
        "many wait, ask language models about them (judges.endpoints), or look at thresholds with "
        "`truthgate evaluate --auto-send-at`."
    ),
    Reason.HIGH_SCORE: "Nothing. If it is untrue after all, raise policy.auto_send_at for such answers.",
    Reason.MESSAGE_TYPE_NOT_SCORED: (
        "Judge it by hand. Profile truthgate scores every type (scoring.profile); policy.unscored "
        "says what becomes of the others."
    ),
    Reason.NO_APPLICABLE_FEATURE: "Read it: it makes no statement that could be compared with a document.",
    Reason.REFUSAL: "Answer the question by hand, and see whether a document on it is missing.",
    Reason.LANGUAGE_UNSUPPORTED: (
        "Judge it by hand. If such questions are frequent, set up a translator "
        "(translation.provider), or have the chatbot name the language."
    ),
    Reason.CONTEXT_MISSING: (
        "Publish the documents that it names (`truthgate documents list` shows those that are there),"
        " or have the chatbot send what it was given."
    ),
    Reason.CONTEXT_INSUFFICIENT: (
        "See what is found (`truthgate search QUESTION`): a document on the question may be missing."
    ),
    Reason.RETRIEVAL_UNAVAILABLE: (
        "Judge it by hand, and see in the worker's log and its /readyz why nothing could be searched."
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
        "scoring.verifier.seconds a higher value."
    ),
    Reason.VERIFIER_FAILED: (
        "Judge it by hand, and try the model of scoring.verifier.folder on this answer with truthgate score."
    ),
    Reason.SCORING_TIMEOUT: (
        "Judge it by hand. If there are many, give the workers more processors, or "
        "scoring.timeout_seconds a higher value."
    ),
    Reason.SCORING_DISABLED: "Judge it by hand, or switch judging on (scoring.enabled).",
    Reason.SENDING_HELD: (
        "Send it by hand if it is right. `truthgate holds` says who holds what and why, `truthgate "
        "resume` lets it go on."
    ),
    Reason.HOLDS_UNKNOWN: (
        "Send it by hand if it is right, and see why the holds cannot be read: alert "
        "TruthgateHoldsUnknown in the runbook."
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
    Reason.JUDGE_UNSURE: (
        "Compare what is marked with the passages beside it, then send or correct the answer."
    ),
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
    "error_mismatch": "Correct the answer: it explains another error than the one that was asked about.",
    "derived_number": "Do the computation by the documents' numbers, then send or correct the answer.",
    "refuted_figure": "Do the sum again by the derivation of the claim, then send or correct the answer.",
    "contradicted_value": "Compare the claim with the row or sentence beside it, then correct the answer.",
    "action_claimed": (
        "See whether it was done. If not, do it or tell the customer; a chatbot that can act should say "
        "so in its documents."
    ),
    "courtesy": "Nothing. If it was no mere courtesy, tell whoever keeps the lexicon.",
    "verbatim_section": "Nothing. If it is wrong, correct its document.",
}


def next_step(code: str) -> str | None:
    """Return what to do about an answer with such a reason, or None for a code that is not known here."""
    return NEXT_STEPS.get(code)
