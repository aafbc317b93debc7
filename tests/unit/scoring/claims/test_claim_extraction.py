"""The sentences of an answer are told apart by what they say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.claims.claim_extraction import MAX_CLAIMS, ClaimKind, claims
from tests.unit.scoring.scoring_support import prepared


def kinds(text, language):
    return [claim.kind for claim in claims(prepared(text, language))]


@pytest.mark.parametrize(
    ("text", "language", "kind"),
    [
        ("The link works for a day.", "en", ClaimKind.CLAIM),
        ("De link werkt een dag.", "nl", ClaimKind.CLAIM),
        ("Great, glad it worked!", "en", ClaimKind.COURTESY),
        ("Fijn om te horen, graag gedaan!", "nl", ClaimKind.COURTESY),
        ("Dat doe je zo:", "nl", ClaimKind.COURTESY),
        ("Try this:", "en", ClaimKind.COURTESY),
        ("Is the program running?", "en", ClaimKind.QUESTION),
        ("Draait het programma al?", "nl", ClaimKind.QUESTION),
        ("Yes.", "en", ClaimKind.YES_OR_NO),
        ("Ja hoor.", "nl", ClaimKind.YES_OR_NO),
        ("Yes, they can.", "en", ClaimKind.YES_OR_NO),
        ("No, unfortunately.", "en", ClaimKind.YES_OR_NO),
        ("Nee, helaas niet.", "nl", ClaimKind.YES_OR_NO),
        ("Dat kan.", "nl", ClaimKind.YES_OR_NO),
        ("The documentation does not mention a limit.", "en", ClaimKind.REFUSAL),
        ("I can't do that from here.", "en", ClaimKind.REFUSAL),
        ("In de documentatie staat daar niets over.", "nl", ClaimKind.REFUSAL),
        ("Dat kan ik helaas niet voor u doen.", "nl", ClaimKind.REFUSAL),
        # A figure is claimed, in however few words, but not in what leads in a list.
        ("30 days.", "en", ClaimKind.CLAIM),
        ("Ja, 30 dagen.", "nl", ClaimKind.CLAIM),
        ("These 3 steps:", "en", ClaimKind.COURTESY),
        # A negation makes something of the product a claim, however friendly the rest of its words.
        ("A colour profile does not help.", "en", ClaimKind.CLAIM),
        ("Een kleurprofiel helpt daar niet tegen.", "nl", ClaimKind.CLAIM),
    ],
)
def test_each_kind_of_sentence_is_recognised(text, language, kind):
    assert kinds(text, language) == [kind]


def test_steps_and_what_leads_them_in_are_read_one_by_one():
    text = "Follow these steps:\n\n1. Open the **Leave** tab.\n2. Click **Save**."
    found = claims(prepared(text, "en"))
    assert [text[claim.start : claim.end] for claim in found][1:] == [
        "Open the **Leave** tab",
        "Click **Save**",
    ]
    assert [claim.kind for claim in found] == [ClaimKind.COURTESY, ClaimKind.CLAIM, ClaimKind.CLAIM]


def test_no_more_claims_are_read_than_an_answer_of_support_has():
    assert len(kinds("It works. " * (MAX_CLAIMS + 20), "en")) == MAX_CLAIMS


@given(st.text(max_size=200))
def test_claims_are_in_order_and_within_whatever_text(text):
    found = claims(prepared(text, "en"))
    places = [place for claim in found for place in (claim.start, claim.end)]
    assert places == sorted(places)
    assert all(claim.start < claim.end <= len(text) for claim in found)
