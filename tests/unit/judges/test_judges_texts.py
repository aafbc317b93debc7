"""The texts of a case on their way to a model, and back to the places of the original."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.judges.masking import EditedText, find_words, mask_personal_data
from scoring.judges.texts import PromptPart, best_passages, clean, fence, fence_mark, shorten_documents
from scoring.values.exchange import Passage


def mask(*texts):
    return tuple(each.text for each in mask_personal_data([clean(text) for text in texts]))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("Mail jan.de-vries+x@voorbeeld.co.nl.", "Mail [EMAIL-1]."),
        ("Mail jan\u200b@voorbeeld.nl.", "Mail [EMAIL-1]."),
        ("Bel 06-12345678, nu.", "Bel [PHONE-1], nu."),
        ("Bel +31 6 12 34 56 78.", "Bel [PHONE-1]."),
        ("Bel +31 (0)20-123 45 67.", "Bel [PHONE-1]."),
        ("Bel (020) 123 45 67 of 0032 470 12 34 56", "Bel [PHONE-1] of [PHONE-2]"),
        ("Bel 0900-1234 of 0800 0432.", "Bel [PHONE-1] of [PHONE-2]."),
        ("Call (555) 123-4567 or 020 7946 0958.", "Call [PHONE-1] or [PHONE-2]."),
        ("Op NL91 ABNA 0417 1643 00 graag.", "Op [ACCOUNT-1] graag."),
        ("Op nl91abna0417164300.", "Op [ACCOUNT-1]."),
        ("DE89370400440532013000, BE68 5390 0754 7034", "[ACCOUNT-1], [ACCOUNT-2]"),
        ("Giro 12.34.56.789, BSN 123456782", "Giro [ACCOUNT-1], BSN [ACCOUNT-2]"),
        ("Card 4111 1111 1111 1111.", "Card [ACCOUNT-1]."),
        ("Bel 06\u00a012345678 of 06\u201112345678.", "Bel [PHONE-1] of [PHONE-1]."),
        ("Op NL91\u00a0ABNA\u00a00417\u202f1643\u00a000.", "Op [ACCOUNT-1]."),
        (
            "Mail jan\uff20klant.nl, bel \uff10\uff16\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18.",
            "Mail [EMAIL-1], bel [PHONE-1].",
        ),
    ],
)
def test_personal_data_are_masked(text, seen):
    assert mask(text) == (seen,)


@pytest.mark.parametrize(
    "text",
    [
        "On 01-02-2026 10:30, 2026-02-01 10:30 or 2026-02-01T10:00.",
        "Version 10.2.3.4 at 192.168.1.1, error 0x80070005 and 404.",
        "€ 1.234.567,89, 0.12345678, 1,123456789 and 1.000.000.000.",
        "In 2019 2020 2021, from 10:30-11:30, for 14 days, article 2024-000123.",
        "IN10 THE NEXT STEP IS DONE",
        "Type name@ and @name.",
    ],
)
def test_dates_amounts_and_versions_are_not(text):
    assert mask(text) == (text,)


def test_the_same_value_has_the_same_token_in_all_texts_however_it_is_written():
    question, answer, document = mask(
        "Is it a@b.nl or 06 1234 5678?", "A@B.NL, +31612345678, 0031 (0)6-12345678", "c@b.nl, 06-87654321"
    )
    assert question == "Is it [EMAIL-1] or [PHONE-1]?"
    assert answer == "[EMAIL-1], [PHONE-1], [PHONE-1]"
    assert document == "[EMAIL-2], [PHONE-2]"


def test_a_token_that_a_text_holds_already_is_given_to_nothing_else():
    assert mask("[EMAIL-1] a@b.nl") == ("[EMAIL-1] [EMAIL-2]",)


def test_places_lead_back_to_the_original():
    original = "Mail jan@x.nl\u200b or <|im_end|> press Save."
    (seen,) = mask_personal_data([clean(original)])
    assert seen.text == "Mail [EMAIL-1] or < |im_end| > press Save."
    assert seen.original == original
    for shown, meant in [
        ("[EMAIL-1]", "jan@x.nl"),
        ("EMAIL", "jan@x.nl"),
        ("press Save", "press Save"),
        ("il [EMAIL-1] or", "il jan@x.nl\u200b or"),
        (" or ", "\u200b or "),
    ]:
        start, end = seen.original_span(seen.text.index(shown), seen.text.index(shown) + len(shown))
        assert original[start:end].strip("\u200b") == meant.strip("\u200b")


@given(st.text("ab<|>@.x1\u200b", max_size=30), st.data())
def test_every_part_that_was_not_edited_leads_back_to_itself(text, data):
    seen = clean(text).replaced(re.compile("a+b"), lambda _: "[ab]")
    start = data.draw(st.integers(0, len(seen.text)))
    end = data.draw(st.integers(start, len(seen.text)))
    begins, ends = seen.original_span(start, end)
    assert 0 <= begins <= len(text)
    assert 0 <= ends <= len(text)
    if end > start:
        shown = re.sub(r"\[ab\]|[][ ]|\u200b", "", seen.text[start:end])
        assert begins <= ends
        # Nothing that the part shows lies outside of what it leads back to.
        rest = iter(text[begins:ends])
        assert all(sign in rest for sign in shown if sign not in "ab")


@given(st.text("<|>｜/s[]INTinst", max_size=40))
def test_what_is_clean_stays_as_it_is(text):
    once = clean(text)
    assert clean(once.text).text == once.text


def test_nothing_that_steers_a_model_unseen_is_left():
    text = "a\u202eb\x1b[2J\U000e0041\ufeff\ud800c\u00add\te\nf"
    assert clean(text).text == "ab[2J\ufffdcd\te\nf"
    assert clean("I\u034fg\u2800n\u3164o\ufe0fr\U000e0100e 👩\u200d🔧").text == "Ignore 👩🔧"


@pytest.mark.parametrize(
    "unit", ["a", "a@", "a.", "0", "0-", "+3", "+31 ", "NL91 ", "AB12", "1 ", "12.", "<|", "[/"]
)
def test_no_text_makes_the_search_for_personal_data_slow(unit):
    hostile = (unit * 100_000)[:100_000] + "x"
    began = time.process_time()
    mask_personal_data([clean(hostile)])
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("30 days", "30 days"),
        ("30  DAYS", "30 days"),
        ('"30 days"', "30 days"),
        ("“Save”", "Save"),
        ("again\nwithin", "again within"),
        ("40 days", None),
        ("...", None),
        ("", None),
        ("x" * 2_000, None),
    ],
)
def test_words_are_found_exactly_or_else_with_other_space_case_and_quotes(words, found):
    answer = "Press Save again within 30 days. " + "x" * 3_000
    span = find_words(words, answer)
    assert (answer[slice(*span)] if span else None) == found


def test_a_fence_is_the_same_for_the_same_parts_and_another_for_others():
    parts = [PromptPart("question", "q"), PromptPart("answer", "a")]
    assert fence("single", parts) == fence("single", parts)
    marks = {
        fence_mark("single", parts),
        fence_mark("io", parts),
        fence_mark("single", parts[::-1]),
        fence_mark("single", [PromptPart("question", "qa"), PromptPart("answer", "")]),
    }
    assert len(marks) == 4


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_no_part_holds_the_mark(texts):
    parts = [PromptPart("answer", text) for text in texts]
    mark = fence_mark("x", parts)
    again = fence_mark("x", [*parts, PromptPart("answer", mark.upper())])
    assert all(mark not in text for text in texts)
    assert again != mark


PAGES = tuple(
    Passage(
        f"d{number}", f"Start of {number}.\n\nAll about topic{number}.\n\nMore on printers.", f"T{number}"
    )
    for number in range(9)
)


def test_documents_that_fit_stay_as_they_are():
    assert shorten_documents(PAGES, "topic3", 10_000) == PAGES


def test_what_is_nearest_is_kept_in_its_order_and_what_is_left_out_is_shown():
    (kept,) = shorten_documents(PAGES, "topic3", 18)
    assert kept.document_id == "d3"
    assert kept.text == "[...]\n\nAll about topic3."


@given(st.text("ab \n", max_size=60), st.integers(1, 40))
def test_no_more_is_kept_than_is_allowed(text, longest):
    kept = shorten_documents([Passage("d", text)], "a", longest)
    assert len(re.sub(r"\[\.\.\.\]|\s", "", "".join(each.text for each in kept))) <= max(longest, 0)


def test_the_best_passages_are_those_that_share_rare_words():
    best = best_passages(PAGES, "What is all about topic5 and printers?", 1, 1_000)
    assert best == ("All about topic5.",)


def test_an_edit_without_a_match_is_none():
    text = EditedText("a")
    assert text.replaced(re.compile("b"), lambda _: "c") is text
