"""The passage beside a claim: what the claim leaves out, tables, and the link to its place."""

import pytest

from streams.desk.passage_view import passage_blocks, place_url

RULE = "You get the price back within 5 days if the fault was the machine's."


def left_out(passage: str, claim: str) -> list[str]:
    return [run.text for block in passage_blocks(passage, claim) for run in block.runs if run.left_out]


def test_a_condition_that_the_claim_leaves_out_stands_out() -> None:
    claim = "You get the price back within 5 days"
    assert left_out(RULE, claim) == ["if", "fault was", "machine's"]
    assert left_out(RULE, RULE.upper()) == []
    assert "".join(run.text for block in passage_blocks(RULE, claim) for run in block.runs) == RULE


def test_nothing_stands_out_of_a_passage_in_other_words() -> None:
    assert left_out("Bags are back the next working day.", "Your laundry returns on Saturday") == []
    assert passage_blocks("", "A claim") == ()


def test_a_table_is_one_and_what_is_around_it_is_text() -> None:
    passage = "Prices.\n| | Plus | Home |\n|---|:--:|---|\n| Wash | 3 euro | 2 euro |\n\nWith VAT."
    before, table, after = passage_blocks(passage, "A wash costs 3 euro")
    assert table.rows == (("", "Plus", "Home"), ("Wash", "3 euro", "2 euro"))
    assert ["".join(run.text for run in each.runs) for each in (before, after)] == ["Prices.", "With VAT."]
    assert passage_blocks("Coat | 19.95 | 5 days", "x")[0].rows == (("Coat", "19.95", "5 days"),)


def test_marks_of_markdown_are_not_shown_and_names_are_bold() -> None:
    (block,) = passage_blocks("Click **Save** at *once*.", "Click Save")
    assert [(run.text, run.strong, run.left_out) for run in block.runs] == [
        ("Click ", False, False),
        ("Save", True, False),
        (" ", False, False),
        ("at ", False, True),
        ("once", True, True),
        (".", False, False),
    ]
    (table,) = passage_blocks("| **Name** | `a_b` |", "x")
    assert table.rows == (("Name", "a_b"),)
    (hostile,) = passage_blocks("**<b>\u202e** [x](javascript:y) **open", "x")
    assert "".join(run.text for run in hostile.runs) == "<b>\u202e [x](javascript:y) **open"


@pytest.mark.parametrize(
    ("passage", "text"),
    [
        ("Click **Save & close**", "Click%20Save%20%26%20close"),
        ("1. Open the well-known app", "Open%20the%20well%2Dknown%20app"),
        ("| | |\n|---|---|\n| E05 | The door |", "E05"),
        ("\n# Prices\nAll.", "All."),
        ("\n# Prices\n", "Prices"),
        (RULE, "You%20get%20the%20price,fault%20was%20the%20machine%27s."),
    ],
)
def test_a_link_leads_to_the_place_of_the_passage(passage: str, text: str) -> None:
    assert place_url("https://help.example/a?b", passage) == f"https://help.example/a?b#:~:text={text}"
    assert place_url("https://help.example/a#b", passage) == f"https://help.example/a#b:~:text={text}"


def test_a_passage_without_words_has_no_place() -> None:
    assert place_url("https://help.example/a", "") == "https://help.example/a"
    assert place_url("https://help.example/a", "**\n|---|") == "https://help.example/a"
