"""A terminal shows an answer's words by status with the passages beside them, and nothing that moves it."""

from dataclasses import replace
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from schemas.records import VerdictClaim, VerdictClaimSource, VerdictSpan
from scoring.values.checked_claims import ClaimStatus
from streams.cli.demo.demo_board import DemoBoard, answer_excerpt, tables
from streams.cli.explain_command import marked_answer
from streams.cli.verdict_rendering import (
    claim_in_full,
    claim_lines,
    verdict_line,
    verdict_with_claims,
)
from streams.pipeline.verdict import verdict_id
from tests.support.record_strategies import claims as any_claims
from tests.support.verdicts import any_verdict

ANSWER = "Hello! Open **Sales**. It costs 50 euros. It is blue."
VERDICT = any_verdict(
    verdict_id=verdict_id("a-1"),
    decision="blocked",
    reasons=("contradicted",),
    message_type="general",
    question="What does it cost?",
    answer=ANSWER,
)


def claim(words: str, status: str, passage: str = "", mistake: str | None = None) -> VerdictClaim:
    start = ANSWER.index(words)
    source = VerdictClaimSource("d-1", "0123456789", passage, 0, len(passage)) if passage else None
    return VerdictClaim(words, start, start + len(words), status, "words", mistake, None, source)


GREETING = claim("Hello!", "not_checkable")
TRUE = claim("Open **Sales**.", "supported", "Open **Sales**.")
WRONG = claim("It costs 50 euros.", "contradicted", "It costs 5 euros.", "number")
UNKNOWN = claim("It is blue.", "not_found")
CHECKED = replace(VERDICT, claims=(GREETING, TRUE, WRONG, UNKNOWN))


def test_below_a_verdict_stand_its_claims_by_sign_and_status_with_the_passages_they_were_compared_with():
    assert verdict_with_claims(CHECKED).plain.splitlines() == [
        verdict_line(VERDICT).plain,
        "    ✓ supported  “Open **Sales**.”  d-1@01234567: “Open **Sales**.”",
        "    ✗ contradicted (number)  “It costs 50 euros.”  d-1@01234567: “It costs 5 euros.”",
        "    ? not found  “It is blue.”",
    ]


def test_the_passage_of_a_claim_that_was_not_found_is_told_as_the_nearest():
    unknown = claim("It is blue.", "not_found", "It is in Sales.")
    (line,) = claim_lines(replace(VERDICT, claims=(unknown,)), 1)
    assert line.plain == "    ? not found  “It is blue.”  nearest in d-1@01234567: “It is in Sales.”"


SIMILAR = replace(
    claim("It costs 50 euros.", "similar", "It costs 5 euros."),
    lacking=(VerdictSpan(ANSWER.index("50"), ANSWER.index("50") + 2),),
)


def test_the_words_of_a_similar_claim_that_its_passage_lacks_are_told_behind_it_and_in_the_answer():
    verdict = replace(VERDICT, claims=(SIMILAR,))
    (line,) = claim_lines(verdict, 1)
    assert line.plain == (
        "    ≈ similar  “It costs 50 euros.”  (not in the documents: “50”)  d-1@01234567: “It costs 5 euros.”"
    )
    assert "≈It costs ‹50› euros." in marked_answer(verdict).plain


def test_who_decided_a_claim_is_told_where_it_was_not_the_comparison_of_words():
    judged = replace(SIMILAR, decided_by="judge", mistake="hallucination")
    (line,) = claim_lines(replace(VERDICT, claims=(judged,)), 1)
    assert line.plain.startswith(
        "    ≈ similar (hallucination), by a judge  “It costs 50 euros.”  (called wrong: “50”)"
    )
    assert "by a" not in claim_in_full(replace(SIMILAR, decided_by="words")).plain


def test_a_verdict_without_claims_is_the_one_line_it_was():
    assert verdict_with_claims(VERDICT) == verdict_line(VERDICT)
    greeting = replace(VERDICT, claims=(GREETING,))
    assert verdict_with_claims(greeting).plain == verdict_line(VERDICT).plain


def test_of_many_claims_those_that_speak_against_the_answer_are_shown_and_the_others_counted():
    many = replace(VERDICT, claims=(*[TRUE] * 5, UNKNOWN, WRONG, UNKNOWN))
    shown = [line.plain.strip() for line in claim_lines(many, 2)]
    assert [line[:2] for line in shown[:2]] == ["✗ ", "? "]
    assert shown[2:] == ["and 1 not found, 5 supported"]


def test_long_words_are_cut():
    long = replace(WRONG, text="x" * 5_000, source=VerdictClaimSource("d-1", None, "y" * 5_000, 0, 5_000))
    (line,) = claim_lines(replace(VERDICT, claims=(long,)), 5)
    assert len(line.plain) < 400
    assert line.plain.count("…") == 2


def test_in_an_excerpt_every_claim_has_its_sign_and_colour_and_a_courtesy_none():
    text = answer_excerpt(CHECKED, 200)
    assert text.plain == "Hello! ✓Open **Sales**. ✗It costs 50 euros. ?It is blue."
    assert [(text.plain[span.start], span.style) for span in text.spans] == [
        ("✓", "green"),
        ("✗", "bold red"),
        ("?", "yellow"),
    ]


def test_an_excerpt_shows_the_contradiction_however_far_into_the_answer():
    far = replace(CHECKED, answer="x" * 500 + ANSWER + "y" * 500)
    moved = tuple(replace(each, start=each.start + 500, end=each.end + 500) for each in CHECKED.claims)
    assert "✗It costs 50 euros." in answer_excerpt(replace(far, claims=moved), 40).plain


odd_claims = st.builds(
    replace,
    any_claims,
    start=st.integers(0, 70),
    end=st.integers(0, 70),
    status=st.sampled_from([*ClaimStatus, "of_tomorrow"]),
)


@given(st.lists(odd_claims, max_size=4), st.integers(1, 60), st.text(max_size=60))
def test_whatever_others_wrote_is_shown_safely(claims, width, answer):
    hostile = replace(VERDICT, answer=answer, claims=tuple(claims))
    assert len(answer_excerpt(hostile, width).plain) <= width + len(claims) + 2
    assert len(verdict_with_claims(hostile).plain.splitlines()) <= 1 + len(claims)


@pytest.mark.parametrize("bad", ["\x1b[2J", "\n", "\u202e", "\x9b31m"])
def test_nothing_that_moves_the_cursor_gets_to_a_terminal(bad):
    source = VerdictClaimSource(f"d{bad}", f"v{bad}", f"passage{bad}", 0, 9)
    claim = VerdictClaim(f"words{bad}", 0, 6, "contradicted", "words", f"number{bad}", None, source)
    hostile = replace(VERDICT, answer=f"words{bad}{ANSWER}", claims=(claim, replace(claim, status=f"x{bad}")))
    for line in (*claim_lines(hostile, 5), answer_excerpt(hostile, 60)):
        assert bad[0] not in line.plain
    assert bad[0] not in verdict_with_claims(hostile).plain.replace("\n", "", 1)


def test_claims_with_markup_of_the_terminal_library_are_plain_text():
    marked = replace(WRONG, text="[bold red]It costs[/] [link=http://x]50[/link]")
    (line,) = claim_lines(replace(VERDICT, claims=(marked,)), 1)
    assert "“[bold red]It costs[/] [link=http://x]50[/link]”" in line.plain


def shown(board: DemoBoard, width: int, height: int) -> list[str]:
    console = Console(width=width, height=height, record=True, file=StringIO())
    console.print(tables(board, width, height))
    return console.export_text().splitlines()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (140, 40), (40, 10)])
def test_the_demo_shows_the_newest_wrong_claims_with_their_passages_and_fits_the_terminal(width, height):
    board = DemoBoard([f"a-{index}" for index in range(100)])
    for index in range(100):
        verdict = replace(CHECKED if index < 99 else VERDICT, verdict_id=verdict_id(f"a-{index}"))
        board.add(replace(verdict, answer_id=f"a-{index}"))
    lines = shown(board, width, height)
    assert max(map(len, lines)) <= width
    assert len(lines) <= max(height, 19)
    assert any(line.startswith("claims of a-98") for line in lines)
    assert any(line.startswith("    ✗ contradicted (number)") for line in lines)


def test_a_demo_without_claims_shows_none():
    board = DemoBoard(["a-1"])
    board.add(VERDICT)
    assert not any("documents" in line or "faithful" in line for line in shown(board, 80, 24))


def test_the_demo_shows_how_faithful_the_answers_of_a_type_are_where_that_is_known():
    board = DemoBoard(["a-1", "a-2", "a-3"])
    board.add(replace(CHECKED, faithfulness=0.25))
    board.add(replace(CHECKED, verdict_id=verdict_id("a-2"), faithfulness=0.75))
    board.add(replace(VERDICT, verdict_id=verdict_id("a-3"), message_type="binary"))
    table = {line.split()[0]: line.split()[-1] for line in shown(board, 100, 24) if line}
    assert (table["message"], table["general"], table["binary"]) == ("faithful", "50%", "-")
