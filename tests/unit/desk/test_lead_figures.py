"""The lead's figures, against published examples and small sets by hand."""

import pytest

from streams.desk.lead_figures import (
    PersonsRating,
    ReviewedVerdict,
    alpha,
    lead_figures,
    nominal,
    ordinal,
    quantile,
    share,
)

#: Four observers of twelve units: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), C and D.
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
UNITS = list(zip(*OBSERVERS, strict=True))


def test_alpha_is_that_of_the_published_example() -> None:
    found = alpha(UNITS, nominal)
    assert found
    assert found.value == pytest.approx(0.743, abs=0.0005)
    assert found.number == 11
    found = alpha(UNITS, ordinal)
    assert found
    assert found.value == pytest.approx(0.815, abs=0.0005)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high <= 1


def test_no_alpha_where_nothing_could_differ() -> None:
    assert alpha([[1, 1], [1, 1]], ordinal) is None
    assert alpha([[1], [2, None]], ordinal) is None
    found = alpha([[1, 1], [2, 2]], ordinal)
    assert found
    assert (found.value, found.low) == (1.0, None), "two units are too few for an interval"


def test_a_quantile_lies_between_the_order_statistics_of_its_interval() -> None:
    found = quantile(list(range(1, 101)), 0.5)
    assert found
    assert (found.value, found.low, found.high) == (50.5, 40, 61)
    assert quantile([], 0.5) is None
    few = quantile([1.0, 2.0], 0.5)
    assert few
    assert few.low is None


def test_a_share_has_wilsons_interval() -> None:
    found = share([True] * 2 + [False] * 8)
    assert found
    assert (found.value, found.number) == (0.2, 10)
    assert found.low == pytest.approx(0.0567, abs=1e-4)
    assert found.high == pytest.approx(0.5098, abs=1e-4)
    assert share([]) is None


def held(reason: str, outcome: str | None, seconds: float = 60, **fields: object) -> ReviewedVerdict:
    decided = None if outcome is None else 1_000_000 + round(1000 * seconds)
    known = {"decision": "review", "message_type": "instruction", "reason": reason, "scored_at": 1_000_000}
    return ReviewedVerdict(**{**known, "outcome": outcome, "decided_at": decided, **fields})


def rated(*says: tuple[str, int | None, str | None]) -> dict[str, object]:
    return {"ratings": tuple(PersonsRating(*each) for each in says)}


def test_what_became_of_held_answers_is_counted_by_their_first_reason() -> None:
    found = lead_figures(
        [
            held("middle_score", "send", 10),
            held("middle_score", "reject", 30),
            held("middle_score", "expired", 3_600),
            held("context_missing", "send_edited", 20),
            held("context_missing", None),
            held("low_score", "send", decision="blocked"),
        ]
    )
    assert found.median
    assert (found.median.value, found.median.number) == (20, 3), "what expired nobody decided about"
    assert [(each.reason, dict(each.outcomes)) for each in found.reasons] == [
        ("middle_score", {"send": 1, "send_edited": 0, "reject": 1, "expired": 1}),
        ("context_missing", {"send": 0, "send_edited": 1, "reject": 0, "expired": 0}),
    ]
    assert found.changed
    assert (found.changed.value, found.changed.number) == (pytest.approx(2 / 3), 3)


def audited(decision: str, **fields: object) -> ReviewedVerdict:
    return held("judged_true", None, decision=decision, drawn=True, **fields)


def test_judges_and_the_audit_are_compared_with_what_people_say() -> None:
    found = lead_figures(
        [
            audited("auto_send", judged="TRUE", **rated(("kim", 5, None))),
            audited("auto_send", judged="TRUE", **rated(("kim", 1, None))),
            audited("auto_send", **rated(("kim", 3, None))),
            audited("blocked", judged="FALSE", **rated(("kim", 1, "TRUE"))),
            held("low_score", None, decision="blocked", **rated(("kim", 1, "FALSE"))),  # chosen, not drawn
        ]
    )
    assert {label: (each.value, each.number) for label, each in found.judges.items()} == {
        "TRUE": (0.5, 2),
        "FALSE": (0.0, 1),
    }
    assert found.sent_untrue
    assert (found.sent_untrue.value, found.sent_untrue.number) == (0.5, 2)
    assert found.blocked_true
    assert found.blocked_true.value == 1
