"""Wrong words are found in the answer, and nothing that a reviewer writes is lost."""

import time

from streams.desk.wrong_words import KINDS, find_wrong_words


def found(answer: str, lines: str) -> list[tuple[str, str, int]]:
    return [(each.kind, each.text, each.start) for each in find_wrong_words(answer, lines)[0]]


def test_words_are_found_across_white_space_and_once_more_where_they_follow() -> None:
    answer = "After 30 days, or 30\n days (a+b)."
    lines = "number: 30 days\r\n\nnumber:  30  days\nentity: (a+b)\norder: 30"
    assert found(answer, lines) == [
        ("number", "30 days", 6),
        ("number", "30\n days", 18),
        ("entity", "(a+b)", 27),
        ("order", "30", 6),
    ]


def test_words_are_found_without_the_marks_of_markdown_that_the_page_does_not_show() -> None:
    answer = "Click **Save draft** in `a_b`, **not** Send."
    lines = "entity: Click Save draft in\nentity: **Save draft**\nentity: a_b\nnumber: not Send\norder: **"
    assert [each[1] for each in found(answer, lines)] == [
        "Click **Save draft** in",
        "Save draft",
        "a_b",
        "not** Send",
    ]
    assert find_wrong_words(answer, lines)[1] == "order: **"


def test_what_names_no_words_of_the_answer_is_given_back() -> None:
    for line in ("number: 31", "unheard of: 30", "30", "number:", "number: 30\nnumber: 30"):
        spans, rest = find_wrong_words("30 days", line)
        assert len(spans) == line.count("\n")
        assert rest == line.splitlines()[-1]


def test_each_kind_has_a_key_and_an_answer_full_of_a_word_takes_no_time() -> None:
    assert len(KINDS) == len(set(KINDS.values())) == 8
    start = time.process_time()
    spans, rest = find_wrong_words("a " * 500_000, "number: a\nnumber: b\n" * 5_000)
    assert len(spans) == 50
    assert rest.count("\n") == 9_949
    almost = "number: " + "a " * 100_000 + "b\n"
    assert find_wrong_words("a " * 500_000, almost * 90)[0] == ()
    assert time.process_time() - start < 5
