"""Records of every kind, as hypothesis makes them: valid, and as odd as the contract allows."""

from datetime import UTC, datetime, timedelta
from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st

from schemas import (
    ChatbotAnswer,
    ContextPassage,
    KnowledgeDocument,
    KnownAnswer,
    Pause,
    PolicyAlphaCost,
    PolicyAsking,
    PolicyCalibration,
    PolicyCalibrationBin,
    PolicyCertificate,
    PolicyChange,
    PolicyContent,
    PolicyFigures,
    PolicyTested,
    PolicyTestedPoint,
    PolicyWeight,
    RateAlert,
    RateWindow,
    Review,
    Verdict,
    VerdictClaim,
    VerdictClaimSource,
    VerdictEvidence,
    VerdictFeature,
    VerdictOpinion,
    VerdictPassage,
    VerdictSpan,
    WrongSpan,
)

# A busy machine is slow at times: that is no fault of the code under test.
settings.register_profile("patient", settings(), deadline=None)
settings.load_profile("patient")

T = TypeVar("T")

texts = st.text(st.characters(codec="utf-8"), max_size=40)
ids = st.text(st.characters(codec="utf-8"), min_size=1, max_size=256)
times = st.integers(0, 253_402_128_000_000).map(
    lambda millis: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(0, 2**63 - 1)
offsets = st.integers(0, 2**31 - 1)


def _maybe(values: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    return st.none() | values


def _some(values: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(values, max_size=4).map(tuple)


passages = st.builds(ContextPassage, document_id=ids, text=texts, title=_maybe(texts), score=_maybe(numbers))
answers = st.builds(
    ChatbotAnswer,
    answer_id=ids,
    conversation_id=ids,
    question=texts,
    answer=texts,
    produced_at=times,
    context=_some(passages),
    document_ids=_some(ids),
    language=_maybe(texts),
    model=_maybe(texts),
    metadata=st.dictionaries(texts, texts, max_size=4),
)
documents = st.builds(
    KnowledgeDocument,
    document_id=ids,
    language=ids,
    title=texts,
    text=texts,
    updated_at=times,
    url=_maybe(texts),
    auto_send=st.booleans(),
)
wrong_spans = st.builds(WrongSpan, kind=texts, text=texts, start=offsets, end=offsets)
reviews = st.builds(
    Review,
    review_id=ids,
    verdict_id=ids,
    answer_id=ids,
    conversation_id=ids,
    produced_at=times,
    outcome=st.sampled_from(["send", "send_edited", "reject", "expired", "none"]),
    text=_maybe(texts),
    rating=_maybe(st.integers(1, 5)),
    label=_maybe(st.sampled_from(["TRUE", "FALSE", "NOT_GIVEN"])),
    wrong_spans=_some(wrong_spans),
    comment=_maybe(texts),
    reviewer=ids,
    reviewed_at=times,
    source=st.sampled_from(["desk", "known_answer", "external"]),
    sampling_weight=st.floats(1, 1e6),
    proposal=_maybe(texts),
)
evidence = st.builds(
    VerdictEvidence, kind=texts, text=texts, start=offsets, end=offsets, document_id=_maybe(texts)
)
features = st.builds(VerdictFeature, name=texts, value=_maybe(numbers), evidence=_some(evidence))
judged_passages = st.builds(
    VerdictPassage,
    document_id=texts,
    version=_maybe(texts),
    score=_maybe(numbers),
    start=_maybe(offsets),
    end=_maybe(offsets),
    title=_maybe(texts),
    url=_maybe(texts),
)
opinions = st.builds(
    VerdictOpinion,
    method=texts,
    models=_some(texts),
    prompt_version=texts,
    label=_maybe(texts),
    confidence=numbers,
    score=_maybe(numbers),
    unsure=_maybe(texts),
    mistakes=_some(texts),
    evidence=_some(evidence),
    shortened=st.booleans(),
    requests=offsets,
    tokens_in=counts,
    tokens_out=counts,
    seconds=numbers,
    cost=_maybe(numbers),
)
sources = st.builds(
    VerdictClaimSource, document_id=texts, version=_maybe(texts), text=texts, start=offsets, end=offsets
)
claims = st.builds(
    VerdictClaim,
    text=texts,
    start=offsets,
    end=offsets,
    status=texts,
    mistake=_maybe(texts),
    derivation=_maybe(texts),
    support=_maybe(numbers),
    source=_maybe(sources),
    lacking=_some(st.builds(VerdictSpan, start=offsets, end=offsets)),
    decided_by=texts,
)
verdicts = st.builds(
    Verdict,
    verdict_id=ids,
    answer_id=ids,
    conversation_id=ids,
    decision=texts,
    reasons=_some(texts),
    score=_maybe(numbers),
    profile=texts,
    message_type=texts,
    language=_maybe(texts),
    translated=st.booleans(),
    question=texts,
    answer=texts,
    context_ids=_some(texts),
    features=_some(features),
    policy_version=texts,
    scorer_version=texts,
    degraded=_some(texts),
    produced_at=times,
    scored_at=times,
    context_source=texts,
    context=_some(judged_passages),
    opinions=_some(opinions),
    claims=_some(claims),
    support=_maybe(numbers),
    contradiction=_maybe(numbers),
    faithfulness=_maybe(numbers),
    missing_context_ids=_some(texts),
    model=_maybe(texts),
    metadata=st.dictionaries(texts, texts, max_size=4),
    known_answer_key=_maybe(ids),
)
windows = st.builds(
    RateWindow,
    window_start=times,
    window_end=times,
    message_type=texts,
    language=_maybe(texts),
    answers=counts,
    scored=counts,
    hallucinated=counts,
    auto_sent=counts,
    review=counts,
    blocked=counts,
    rate=numbers,
    rate_low=numbers,
    rate_high=numbers,
    late=counts,
    final=st.booleans(),
    faithfulness_answers=counts,
    faithfulness_mean=_maybe(numbers),
)
alerts = st.builds(
    RateAlert,
    alert_id=ids,
    alert=texts,
    status=texts,
    severity=texts,
    message_type=_maybe(texts),
    language=_maybe(texts),
    window_start=times,
    window_end=times,
    threshold=numbers,
    rate=numbers,
    rate_low=numbers,
    rate_high=numbers,
    scored=counts,
    hallucinated=counts,
    since=times,
    description=texts,
    runbook=texts,
)
pauses = st.builds(
    Pause, status=texts, message_type=_maybe(texts), language=_maybe(texts), at=times, by=ids, reason=ids
)
known_answers = st.builds(
    KnownAnswer,
    key=ids,
    state=texts,
    verdict_id=_maybe(ids),
    review_ids=_some(ids),
    reviewers=_some(ids),
    at=times,
)
shares = st.floats(0, 1)
weights = st.builds(PolicyWeight, input=ids, weight=numbers)
certificates = st.builds(
    PolicyCertificate,
    decision=texts,
    groups=_some(ids),
    threshold=shares,
    alpha=shares,
    delta=shares,
    missed=shares,
    delta_spent=shares,
    answers=counts,
    coverage=shares,
    ratings=counts,
    mistakes=counts,
    estimate=shares,
    bound=shares,
    first=times,
    last=times,
    data=ids,
    model=ids,
    versions=_some(texts),
    max_documents_changed=shares,
)
calibrations = st.builds(
    PolicyCalibration,
    ratings=counts,
    brier=shares,
    brier_score_alone=shares,
    brier_constant=shares,
    bins=_some(st.builds(PolicyCalibrationBin, risk=shares, ratings=counts, mistakes=counts)),
)
points = st.builds(PolicyTestedPoint, coverage=shares, estimate=shares, bound=shares)
tested = st.builds(PolicyTested, decision=texts, groups=_some(ids), level=shares, points=_some(points))
figures = st.builds(
    PolicyFigures,
    calibration=_maybe(calibrations),
    tested=_some(
        st.builds(PolicyTested, decision=texts, groups=_some(ids), level=shares, points=_some(points))
    ),
    costs=_some(
        st.builds(
            PolicyAlphaCost, alpha=shares, answers=counts, sent=counts, true_sent=_maybe(shares), group=ids
        )
    ),
)
policy_changes = st.builds(
    PolicyChange,
    version=st.from_regex("[A-Za-z0-9._-]{1,20}", fullmatch=True),
    change=texts,
    group=_maybe(ids),
    at=times,
    by=ids,
    reason=ids,
    content=_maybe(
        st.builds(
            PolicyContent,
            model=ids,
            intercept=numbers,
            weights=_some(weights),
            certificates=_some(certificates),
            figures=_maybe(figures),
            asking=_maybe(
                st.builds(
                    PolicyAsking, intercept=numbers, weights=_some(weights), told=shares, threshold=shares
                )
            ),
        )
    ),
)
records = (
    answers | documents | reviews | verdicts | windows | alerts | pauses | known_answers | policy_changes
)

ANSWER = ChatbotAnswer(
    answer_id="a-1",
    conversation_id="c-1",
    question="Kan ik een factuur crediteren?",
    answer="Ja, via **Acties > Crediteren**.",
    produced_at=datetime(2026, 3, 2, 9, 15, tzinfo=UTC),
    context=(
        ContextPassage(document_id="d-1", text="Crediteren kan via Acties.", title="Creditnota", score=0.5),
    ),
    document_ids=("d-1", "d-2"),
    language="nl",
    metadata={"channel": "chat"},
)
