"""A claim is supported only where one sentence, list item or table row has its words, numbers and "not"."""

import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import Exchange, Passage, Scorer
from scoring.claims.document_statements import document_statements
from scoring.lexicon import load_shipped
from scoring.text.prepared_text import PreparedText
from scoring.values.checked_claims import CheckedClaim, ClaimStatus, DecidedBy

SCORER = Scorer()


def check(answer: str, text: str, language: str, title: str = "") -> CheckedClaim:
    """Give the first claim of an answer that speaks of the document."""
    found = SCORER.score(Exchange("?", answer, (Passage("d", text, title),), language))
    return found.claims[0]


LINK = "The link in the mail works for 24 hours. Administrators can renew an expired link on the Users page."

DATA = tomllib.loads((Path(__file__).parents[1] / "data" / "wording.toml").read_text("utf-8"))
SAID, NOT_SAID = DATA["said"], DATA["not_said"]
UNTRUE_PAIRS, OTHER_THINGS = DATA["pairs"]["untrue_pairs"], DATA["pairs"]["other_things"]


@pytest.mark.parametrize("case", SAID)
def test_a_claim_is_supported_where_one_statement_has_it(case):
    found = check(*SAID[case])
    assert (found.status, found.lacking, found.decided_by) == (ClaimStatus.SUPPORTED, (), DecidedBy.WORDS)


@pytest.mark.parametrize("case", NOT_SAID)
def test_a_claim_is_not_supported_by_like_words(case):
    assert check(*NOT_SAID[case]).status is not ClaimStatus.SUPPORTED


@pytest.mark.parametrize(("text", "answer", "language"), [*UNTRUE_PAIRS, *OTHER_THINGS])
def test_a_claim_is_not_supported_where_the_same_words_say_something_else(text, answer, language):
    assert check(answer, text, language).status is not ClaimStatus.SUPPORTED


@pytest.mark.parametrize(
    ("text", "language"),
    # Of two things that one sentence says, one denied, neither is supported.
    sorted({(text, language) for text, _, language in UNTRUE_PAIRS if not {"?", ";"} & set(text)}),
)
def test_what_a_document_says_is_supported_by_it(text, language):
    found = SCORER.score(Exchange("?", text, (Passage("d", text),), language))
    assert any(claim.status is ClaimStatus.SUPPORTED for claim in found.claims)


@pytest.mark.parametrize(
    ("answer", "text", "language"),
    [
        ("This is a test.", "This is a test of the fire alarm.", "en"),
        ("Test 123", "Press Test. The code is 123.", "en"),
        ("Lorem ipsum.", LINK, "en"),
        ("Dit is een test.", "Dit is een test van het alarm.", "nl"),
        ("Does the link in the mail work for 24 hours?", LINK, "en"),
        ("Werkt de link?", "De link werkt.", "nl"),
        ("You're welcome!", "You are welcome.", "en"),
    ],
)
def test_a_courtesy_a_test_or_a_question_is_never_supported(answer, text, language):
    found = SCORER.score(Exchange("?", answer, (Passage("d", text),), language))
    assert all(claim.status is not ClaimStatus.SUPPORTED for claim in found.claims)


LINES = st.sampled_from(
    [
        "# Links",
        "A link works. It expires.",
        "- **Mode**: one. Two.",
        "| a | b |",
        "|---|---|",
        "",
        "goes on",
        "1. Go",
    ]
)


@given(st.lists(LINES, max_size=12))
def test_statements_are_places_of_the_text_each_of_it_own(lines):
    text = PreparedText.of("\n".join(lines), load_shipped()["en"])
    found = document_statements(text)
    first = [each.own_spans[0] for each in found]
    assert first == sorted(first)
    assert all(
        0 <= start < end <= len(text.original)
        for each in found
        for start, end in (*each.own_spans, *each.parent_spans)
    )
    assert all(left[1] <= right[0] for left, right in pairwise(first))
