"""A sieve lets just those verdicts through that have one of each kind of what is named."""

from dataclasses import replace
from datetime import timedelta

import pytest

from streams.explaining.explaining import Sieve
from tests.support.pages import BEGIN, blocked_verdict

VERDICT = replace(
    blocked_verdict("Klik op Opslaan.", number=0), reasons=("low_score",), degraded=("documents_stale",)
)
SECOND = timedelta(seconds=1)


def one(name: str) -> frozenset[str]:
    return frozenset({name})


@pytest.mark.parametrize(
    "sieve",
    [
        Sieve(),
        Sieve(decisions=frozenset({"review", "blocked"})),
        Sieve(message_types=one("instruction"), languages=one("nl")),
        Sieve(reasons=one("low_score")),
        Sieve(reasons=frozenset({"refusal", "documents_stale"})),
        Sieve(documents=frozenset({"d-2", "d-9"})),
        Sieve(since=BEGIN, until=BEGIN + SECOND),
        Sieve(lowest=1.5, highest=1.5),
    ],
)
def test_what_has_one_of_each_kind_passes(sieve: Sieve) -> None:
    assert sieve.passes(VERDICT)


@pytest.mark.parametrize(
    "sieve",
    [
        Sieve(decisions=one("review")),
        Sieve(message_types=one("binary"), languages=one("nl")),
        Sieve(message_types=one("instruction"), languages=one("en")),
        Sieve(reasons=one("refusal")),
        Sieve(documents=one("d-9")),
        Sieve(since=BEGIN + SECOND),
        Sieve(until=BEGIN),
        Sieve(lowest=1.6),
        Sieve(highest=1.4),
    ],
)
def test_what_lacks_one_kind_does_not_pass(sieve: Sieve) -> None:
    assert not sieve.passes(VERDICT)


@pytest.mark.parametrize("sieve", [Sieve(lowest=1), Sieve(highest=5)])
def test_what_has_no_score_is_in_no_range_of_scores(sieve: Sieve) -> None:
    assert not sieve.passes(replace(VERDICT, score=None))


def test_a_language_that_is_not_known_is_asked_for_as_und_and_case_does_not_matter() -> None:
    unknown, british = replace(VERDICT, language=None), replace(VERDICT, language="en-GB")
    assert Sieve(languages=one("und")).passes(unknown)
    assert not Sieve(languages=one("und")).passes(VERDICT)
    assert Sieve(languages=one("en-gb")).passes(british)
