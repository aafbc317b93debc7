"""Ends of sentences and clauses, and invisible characters."""

import unicodedata

import pytest
import regex

from scoring.text.characters import (
    INVISIBLE,
    SENTENCE_END,
    clause_ends_between,
    ends_with_stop,
    sentence_ends_between,
)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Click Save. Done", ["."]),
        ("Really?! Yes.", ["?!", "."]),
        ("He said “stop.” Then (it ended.) **Now.** So", [".”", ".)", ".**"]),
        ("Version 2.0 of file.pdf at kantora.nl", []),
        ("Click **Resize…** or **Grow…** if it is there", []),
        ("Wait… Then go", ["…"]),
        ("请点击保存。然后关闭！", ["。", "！"]),
        ("Click: Save; done", []),
    ],
)
def test_a_stop_before_white_space_or_the_end_ends_a_sentence(text, ends):
    assert [match.group() for match in SENTENCE_END.finditer(text)] == ends


@pytest.mark.parametrize(
    ("between", "after", "ends"),
    [
        (". ", "next", True),
        (".", "Next", True),
        (".", "pdf", False),
        (".** ", "next", True),
        ("; ", "next", True),
        (": ", "next", True),
        (":", "next", False),
        (" - ", "next", True),
        ("-", "next", False),
        (", ", "next", False),
        (" `", ".mp3", False),
        ("…** ", "next", False),
        ("\n\n", "next", True),
        ("\n", "wrapped", False),
        ("\n", "Next", True),
        ("\n* ", "item", True),
    ],
)
def test_between_two_words_a_part_of_a_sentence_ends_it_too(between, after, ends):
    text = f"word{between}{after}"
    assert sentence_ends_between(text, 4, 4 + len(between)) is ends


def test_a_clause_ends_at_signs_that_end_no_sentence():
    assert clause_ends_between("well, how", 4, 6)
    assert not clause_ends_between("how (fast) can", 9, 11)
    assert clause_ends_between("how (fast) can", 9, 11, extra_signs=")")


@pytest.mark.parametrize(
    ("line", "also", "closed"),
    [
        ("Done.", "", True),
        ("**Done.**  ", "", True),
        ("So:", "", False),
        ("So:", ":;", True),
        ("", ":", False),
    ],
)
def test_a_line_is_closed_by_a_stop_whatever_marks_follow_it(line, also, closed):
    assert ends_with_stop(line, also) is closed


EVERYTHING = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def test_every_default_ignorable_character_of_unicode_is_taken_out():
    ignorable = regex.findall(r"\p{Default_Ignorable_Code_Point}", "".join(EVERYTHING))
    assert len(ignorable) > 4_000
    assert INVISIBLE.sub("", "".join(ignorable)) == ""


def test_besides_these_only_controls_and_what_is_drawn_as_a_blank_are():
    taken = set(filter(INVISIBLE.search, EVERYTHING))
    others = {sign for sign in taken if not regex.match(r"\p{Default_Ignorable_Code_Point}", sign)}
    controls = {sign for sign in EVERYTHING if unicodedata.category(sign) == "Cc"}
    blank = {*"\u2800\U0001d159\U00016fe4\ufff9\ufffa\ufffb", *map(chr, range(0x13430, 0x13440))}
    assert others == (controls - set("\t\n\r")) | blank


@pytest.mark.parametrize("text", ["", "Save €\u00a05 →\tnow\r\n", "„Opslaan“ é\u2028naïve", "😀 日本語 אב"])
def test_what_is_seen_stays(text):
    assert not INVISIBLE.search(text)
    assert INVISIBLE.sub("", text) == text
