"""A review with few words, for tests."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from schemas import Review

_ANY = Review(
    review_id="r-1",
    verdict_id="v-1",
    answer_id="a-1",
    conversation_id="c-1",
    produced_at=datetime(2026, 3, 2, 9, tzinfo=UTC),
    outcome="none",
    reviewer="kim",
    reviewed_at=datetime(2026, 3, 2, 9, 15, tzinfo=UTC),
    source="external",
)


def a_review(**changes: Any) -> Review:
    """Give a review with these fields; what is sent has a text."""
    text = "Answer." if str(changes.get("outcome")).startswith("send") else None
    return replace(_ANY, **{"text": text, **changes})
