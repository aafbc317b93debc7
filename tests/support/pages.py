"""Records for the page: rate windows, alerts and blocked verdicts as the topics hold them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from schemas.records import (
    RateAlert,
    RateWindow,
    Verdict,
    VerdictClaim,
    VerdictClaimSource,
    VerdictEvidence,
    VerdictFeature,
    VerdictOpinion,
)
from streams.explaining.explanation import LocatedVerdict, VerdictLocation
from streams.rates.windows import wilson_interval
from streams.web.live_data import ReceivedVerdict
from tests.support.verdicts import any_verdict

BEGIN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def rate_window(
    minute: int,
    message_type: str = "instruction",
    language: str | None = "nl",
    *,
    scored: int = 10,
    untrue: int = 1,
    size: int = 60,
    final: bool = False,
    begin: datetime = BEGIN,
) -> RateWindow:
    """Give a window that begins so many minutes after ``begin``, with one answer for review besides."""
    start = begin + timedelta(minutes=minute)
    low, high = wilson_interval(untrue, scored)
    return RateWindow(
        window_start=start,
        window_end=start + timedelta(seconds=size),
        message_type=message_type,
        language=language,
        answers=scored + 1,
        scored=scored,
        hallucinated=untrue,
        auto_sent=scored - untrue,
        review=1,
        blocked=untrue,
        rate=untrue / scored if scored else 0.0,
        rate_low=low,
        rate_high=high,
        faithfulness_answers=0,
        faithfulness_mean=None,
        late=0,
        final=final,
    )


def rate_alert(status: str = "firing", name: str = "high-rate", message_type: str | None = None) -> RateAlert:
    """Give the record of a threshold that was crossed, or is no longer."""
    return RateAlert(
        alert_id=f"{name}-1",
        alert=name,
        status=status,
        severity="critical",
        message_type=message_type,
        language=None,
        window_start=BEGIN,
        window_end=BEGIN + timedelta(minutes=5),
        threshold=0.2,
        rate=0.45,
        rate_low=0.31,
        rate_high=0.6,
        scored=40,
        hallucinated=18,
        since=BEGIN + timedelta(minutes=5),
        description="",
        runbook="",
    )


def blocked_verdict(
    answer: str,
    *spans: tuple[str, str],
    number: int = 1,
    question: str = "Waar staat de knop?",
    begin: datetime = BEGIN,
) -> Verdict:
    """Give a blocked verdict; each span is a kind of evidence and the words of the answer that it lies on."""
    evidence = tuple(
        VerdictEvidence(kind, words, answer.index(words), answer.index(words) + len(words))
        for kind, words in spans
    )
    scored_at = begin + timedelta(seconds=number)
    return any_verdict(
        verdict_id=f"v-{number}",
        answer_id=f"a-{number}",
        decision="blocked",
        reasons=("undefined_component",),
        score=1.5,
        message_type="instruction",
        language="nl",
        question=question,
        answer=answer,
        context_source="by_id",
        context_ids=("d-1", "d-1", "d-2"),
        features=(VerdictFeature("components_defined", 0.0, evidence),),
        produced_at=BEGIN,
        scored_at=scored_at,
    )


def arrived(verdict: Verdict, size: int = 1_000) -> ReceivedVerdict:
    """Give a verdict as the page takes it in, from a record of so many bytes."""
    return ReceivedVerdict(
        LocatedVerdict(verdict, VerdictLocation("verdicts.blocked", 0, 1), verdict.scored_at), size
    )


def with_claims(verdict: Verdict, *claims: tuple[str, str], passage: str | None = None) -> Verdict:
    """Give the verdict with claims; each is a status and the words of the answer that it is.

    All were compared with this ``passage``; what is contradicted is a number.
    """
    answer = verdict.answer
    source = None if passage is None else VerdictClaimSource("d-1", "v1", passage, 0, len(passage))
    told = []
    for status, words in claims:
        start, mistake = answer.index(words), "number" if status == "contradicted" else None
        told.append(VerdictClaim(words, start, start + len(words), status, "words", mistake, 0.5, source))
    return replace(verdict, claims=tuple(told), faithfulness=0.5)


def opinion(answer: str, *wrong: tuple[str, str], label: str | None = "FALSE") -> VerdictOpinion:
    """Give an opinion; each of ``wrong`` is a kind of mistake and the words of the answer that are one."""
    evidence = tuple(
        VerdictEvidence(kind, words, answer.index(words), answer.index(words) + len(words))
        for kind, words in wrong
    )
    return VerdictOpinion(
        method="single",
        models=("gpt_small",),
        prompt_version="0123abcd",
        label=label,
        confidence=0.93 if label else 0.0,
        unsure=None if label else "cut_off",
        mistakes=tuple(dict.fromkeys(kind for kind, _ in wrong)),
        evidence=evidence,
    )


def later(window: RateWindow, **changes: object) -> RateWindow:
    """Give a later record of the same window."""
    return replace(window, **changes)
