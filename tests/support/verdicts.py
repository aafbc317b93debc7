"""A verdict for tests: each gives the fields that it is about."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from schemas import Verdict

_MOMENT = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
_VERDICT = Verdict(
    verdict_id="v-1",
    answer_id="a-1",
    conversation_id="c-1",
    decision="review",
    reasons=(),
    score=1.0,
    profile="truthgate",
    message_type="binary",
    language="en",
    translated=False,
    question="How?",
    answer="So.",
    context_source="none",
    context_ids=(),
    features=(),
    degraded=(),
    policy_version="1",
    scorer_version="1",
    produced_at=_MOMENT,
    scored_at=_MOMENT,
)


def any_verdict(**fields: Any) -> Verdict:
    """Return a verdict with these fields; the others are neutral."""
    return replace(_VERDICT, **fields)
