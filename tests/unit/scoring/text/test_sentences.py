"""Where a sentence ends is told alike wherever it is asked."""

import pytest

from scoring.text.characters import SENTENCE_END, clause_ends_between, ends_with_stop, sentence_ends_between


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
