"""Only numbers, names and negations that the documents lack are marked: true answers have other words too."""

import pytest

from scoring import Exchange, Passage, Scorer
from scoring.values.checked_claims import ClaimStatus

SCORER = Scorer()
LINK = "The link in the mail works for 24 hours. Administrators can renew an expired link on the Users page."
PATHS = "Open **Settings / Your account**. Click **Save draft** to keep the letter. There are seven colours."


def missing(answer: str, text: str, question: str = "?", title: str = "") -> list[str]:
    """Give the words of the answer that are marked."""
    found = SCORER.score(Exchange(question, answer, (Passage("d", text, title), Passage("e", PATHS)), "en"))
    return [answer[start:end] for claim in found.claims for start, end in claim.lacking]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("Administrators can renew an expired link on the Users page, three times.", ["three"]),
        ("Administrators can renew an expired link for 48 hours on the Users page.", ["48"]),
        ("Administrators can renew an expired link on the Guests page.", ["Guests"]),
        ("Only a manager may promptly renew an expired link on the Users page.", []),
        ("I can tell you that what I know is an expired link on the Users page.", []),
    ],
)
def test_a_number_or_a_name_that_no_document_has_is_marked(answer: str, words: list[str]) -> None:
    assert missing(answer, LINK) == words


def test_of_a_path_the_part_is_marked_that_no_document_has_and_a_name_as_a_whole() -> None:
    assert missing("Open **Settings / Your profile** to renew the expired link.", LINK) == ["Your profile"]
    assert missing("Open **Settings / Your account** to renew the expired link.", LINK) == []
    # The documents have both words, and no such button.
    assert missing("Click **Save account** to renew the expired link.", LINK) == ["Save account"]
    assert missing("Click `Save Draft` to renew the expired link.", LINK) == []


def test_what_another_document_or_the_question_has_is_not_marked() -> None:
    assert missing("Administrators can renew 7 expired links on the Users page.", LINK) == []
    answer = "Administrators can renew an expired link of Aldi on the Users page."
    assert missing(answer, LINK) == ["Aldi"]
    assert missing(answer, LINK, question="May Aldi renew it?") == []


def test_a_not_that_the_passage_lacks_is_marked() -> None:
    assert missing("The link does not stop after 24 hours.", LINK) == ["not"]
    assert missing("The link does not stop after 24 hours.", LINK.replace("works", "does not work")) == []


def test_a_claim_that_is_not_found_has_marks_too_and_a_supported_one_has_none() -> None:
    exchange = Exchange("?", "The Guests queue is emptied weekly by Karel.", (Passage("d", LINK),), "en")
    (claim,) = SCORER.score(exchange).claims
    assert claim.status is ClaimStatus.NOT_FOUND
    assert [exchange.answer[start:end] for start, end in claim.lacking] == ["Guests", "Karel"]
    assert missing("The link in the mail works for 24 hours.", LINK) == []
