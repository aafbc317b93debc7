"""A filter lets just those verdicts through that have one of each kind of what is named."""

from dataclasses import replace
from datetime import timedelta

import pytest

from streams.explaining.verdict_explainer import VerdictFilter
from tests.support.pages import BEGIN, blocked_verdict

VERDICT = replace(
    blocked_verdict("Klik op Opslaan.", number=0), reasons=("low_score",), degraded=("documents_stale",)
)
SECOND = timedelta(seconds=1)


def one(name: str) -> frozenset[str]:
    return frozenset({name})


@pytest.mark.parametrize(
    "chosen",
    [
        VerdictFilter(),
        VerdictFilter(decisions=frozenset({"review", "blocked"})),
        VerdictFilter(message_types=one("instruction"), languages=one("nl")),
        VerdictFilter(reasons=one("low_score")),
        VerdictFilter(reasons=frozenset({"refusal", "documents_stale"})),
        VerdictFilter(documents=frozenset({"d-2", "d-9"})),
        VerdictFilter(since=BEGIN, until=BEGIN + SECOND),
        VerdictFilter(lowest=1.5, highest=1.5),
    ],
)
def test_what_has_one_of_each_kind_passes(chosen):
    assert chosen.matches(VERDICT)


@pytest.mark.parametrize(
    "chosen",
    [
        VerdictFilter(decisions=one("review")),
        VerdictFilter(message_types=one("binary"), languages=one("nl")),
        VerdictFilter(message_types=one("instruction"), languages=one("en")),
        VerdictFilter(reasons=one("refusal")),
        VerdictFilter(documents=one("d-9")),
        VerdictFilter(since=BEGIN + SECOND),
        VerdictFilter(until=BEGIN),
        VerdictFilter(lowest=1.6),
        VerdictFilter(highest=1.4),
    ],
)
def test_what_lacks_one_kind_does_not_pass(chosen):
    assert not chosen.matches(VERDICT)


@pytest.mark.parametrize("chosen", [VerdictFilter(lowest=1), VerdictFilter(highest=5)])
def test_what_has_no_score_is_in_no_range_of_scores(chosen):
    assert not chosen.matches(replace(VERDICT, score=None))


def test_a_language_that_is_not_known_is_asked_for_as_und_and_case_does_not_matter():
    unknown, british = replace(VERDICT, language=None), replace(VERDICT, language="en-GB")
    assert VerdictFilter(languages=one("und")).matches(unknown)
    assert not VerdictFilter(languages=one("und")).matches(VERDICT)
    assert VerdictFilter(languages=one("en-gb")).matches(british)
