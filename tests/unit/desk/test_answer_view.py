"""What the page shows of an answer, whatever is in it."""

import time
from dataclasses import replace

import pytest

from schemas import VerdictClaim, VerdictEvidence, VerdictFeature, VerdictPassage, VerdictSpan
from streams.desk.answer_view import show_invisible, view_answer, web_address
from streams.desk.sessions import SESSION_SECONDS, ReviewerSession, Sessions, reviewer_name
from streams.settings import DeskRole, DeskSettings
from tests.support.clock import Clock
from tests.support.pages import with_claims
from tests.support.verdicts import any_verdict


def test_wrong_claims_are_marked_and_come_with_their_passage() -> None:
    verdict = with_claims(
        any_verdict(answer="Click Save. It costs 50 euro. It is blue."),
        ("supported", "Click Save."),
        ("contradicted", "It costs 50 euro."),
        ("not_found", "It is blue."),
        passage="It costs 40 euro.",
    )
    view = view_answer(verdict)
    marks = [(part.text, part.mark, part.claim) for part in view.parts if part.mark]
    assert marks == [
        ("Click Save.", "supported", 1),
        ("It costs 50 euro.", "contradicted", 2),
        ("It is blue.", "not_found", 3),
    ]
    assert "".join(part.text for part in view.parts) == verdict.answer
    assert [(each.number, each.title) for each in view.wrong] == [(2, "d-1"), (3, "d-1")]
    assert [each.number for each in view.supported] == [1]


def with_lacking(status: str) -> list[tuple[str, str, bool]]:
    """Give what is marked in a claim of this status, a word of which the documents lack."""
    claim = VerdictClaim("It is blue today", 0, 16, status, "words", None, 0.5, None)
    claim = replace(claim, lacking=(VerdictSpan(6, 10),))
    view = view_answer(any_verdict(answer="It is blue today.", claims=(claim,)))
    assert {part.claim for part in view.parts if part.mark} == {1}
    return [(part.text, part.mark, part.ends) for part in view.parts if part.mark]


def test_a_word_that_the_documents_lack_is_no_fault_unless_the_claim_is_contradicted() -> None:
    def parts(status: str, word: str) -> list[tuple[str, str, bool]]:
        return [("It is ", status, False), ("blue", word, False), (" today", status, True)]

    assert with_lacking("similar") == parts("similar", "lacking")
    assert with_lacking("contradicted") == parts("contradicted", "fault")
    assert with_lacking("not_found") == parts("not_found", "lacking")


def test_what_no_check_has_read_is_told_apart_from_what_is_supported() -> None:
    answer = "Hello Kim! Click Save. - Good luck."
    view = view_answer(with_claims(any_verdict(answer=answer), ("supported", "Click Save.")))
    assert [(part.text, part.mark) for part in view.parts] == [
        ("Hello Kim! ", "unchecked"),
        ("Click Save.", "supported"),
        (" - Good luck.", "unchecked"),
    ]
    view = view_answer(with_claims(any_verdict(answer="Save it. - "), ("supported", "Save it.")))
    assert [part.mark for part in view.parts] == ["supported", ""], "signs claim nothing"
    # Claims that are too many to be shown were checked all the same.
    many = "It is so. " * 61
    claims = tuple(VerdictClaim("It is so.", n, n + 9, "supported", "words") for n in range(0, 610, 10))
    assert {part.mark for part in view_answer(any_verdict(answer=many, claims=claims)).parts} == {
        "supported",
        "",
    }


def test_marks_of_markdown_are_not_shown_and_no_claim_is_divided_by_them() -> None:
    answer = "Click **Save** or `x < 1`. **It is *blue*."
    view = view_answer(with_claims(any_verdict(answer=answer), ("similar", "Click **Save** or `x < 1`")))
    assert [(part.text, part.mark) for part in view.parts] == [
        ("Click Save or x < 1", "similar"),
        (". **It is blue.", "unchecked"),
    ]
    assert [(run.text, run.strong) for run in view.parts[0].runs] == [
        ("Click ", False),
        ("Save", True),
        (" or ", False),
        ("x < 1", True),
    ]
    assert [run.text for run in view.similar[0].runs] == ["Click ", "Save", " or ", "x < 1"]
    long = "**Save** " * 2_000
    assert view_answer(any_verdict(answer=long)).parts[0].text == long, "shown as it is"


def test_each_document_that_the_chatbot_had_is_named_once_and_what_is_missing_too() -> None:
    passages = (
        VerdictPassage("d-1", "v1", title="Prices", url="https://help.example/prices"),
        VerdictPassage("d-1", "v1", title="Prices", url="https://help.example/prices"),
        VerdictPassage("d-2", None, title=None, url="javascript:alert(1)"),
    )
    view = view_answer(any_verdict(context=passages, missing_context_ids=("d-3", "d-3")))
    assert [(each.title, each.url, each.is_missing) for each in view.documents] == [
        ("Prices", "https://help.example/prices", False),
        ("d-2", None, False),
        ("d-3", None, True),
    ]


def test_a_huge_answer_with_thousands_of_spans_is_shown_whole_and_soon() -> None:
    answer = "word " * 200_000
    evidence = tuple(VerdictEvidence("unknown_number", "word", n * 5, n * 5 + 4) for n in range(10_000))
    verdict = any_verdict(answer=answer, features=(VerdictFeature("numbers_known", 0.0, evidence),))
    began = time.monotonic()
    assert "".join(part.text for part in view_answer(verdict).parts) == answer
    assert time.monotonic() - began < 20, "a span costs the same, however many there are"


@pytest.mark.parametrize("text", ["**a** ", "*", "_a", "`a` ", "**", "# a\n", "*a**"])
def test_an_answer_full_of_marks_of_markdown_is_shown_soon(text: str) -> None:
    answer = text * (10_000 // len(text))
    claims = tuple(
        VerdictClaim(answer[n : n + 100], n, n + 100, "similar", "words") for n in range(0, 9_000, 100)
    )
    began = time.process_time()
    view = view_answer(any_verdict(answer=answer, claims=claims))
    assert time.process_time() - began < 2
    assert set(answer) - set("".join(part.text for part in view.parts)) <= set("*_`# ")


def test_characters_that_deceive_are_shown_as_their_code() -> None:
    assert show_invisible("a\u202eb\u200bc\r\nd\te\x00") == "a⟨U+202E⟩b⟨U+200B⟩c\nd\te⟨U+0000⟩"
    # Tags hide whole sentences, and a soft hyphen or a filler parts a word that is searched for.
    assert show_invisible("a\U000e0041\xad\u3164\u2028") == "a⟨U+E0041⟩⟨U+00AD⟩⟨U+3164⟩⟨U+2028⟩"
    for kept in ("❤️", "é", "Zürich", "日本", "مرحبا", "\u00a0", "🏳"):
        assert show_invisible(kept) == kept


@pytest.mark.parametrize(
    "url", [None, "", "javascript:alert(1)", "data:text/html,x", "//host", "http://[", "ftp://x"]
)
def test_only_web_addresses_are_links(url: str | None) -> None:
    assert web_address(url) is None
    assert web_address("https://help.example/a") == "https://help.example/a"


def test_a_session_is_ours_alone_and_ends() -> None:
    clock = Clock(1_000_000)
    sessions = Sessions(b"k" * 32, DeskSettings(), clock)
    session, cookie = sessions.start("Kim Söderström", DeskRole.REVIEWER)
    assert sessions.read(cookie) == session
    assert Sessions(b"x" * 32, DeskSettings(), clock).read(cookie) is None
    for forged in ("", ".", "a.b.c.d", cookie[:-1] + "g", f"x{cookie}", "\udc80" + cookie):
        assert sessions.read(forged) is None
    assert sessions.is_form_token(session, sessions.form_token(session))
    assert not sessions.is_form_token(ReviewerSession("other", "Kim"), sessions.form_token(session))
    assert not sessions.is_form_token(session, "\udc80")
    clock.now += SESSION_SECONDS
    assert sessions.read(cookie) is None


@pytest.mark.parametrize("name", ["", "  ", "x" * 257, "a\u202eb", "a\x00"])
def test_what_cannot_be_a_name_is_none(name: str) -> None:
    assert reviewer_name(name) is None
    assert reviewer_name("  Kim \n K. ") == "Kim K."
