"""What is shown beside a claim can be read alone: whole sentences, under their label or heading."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.claims.grounding import sentence_index
from scoring.claims.readable_passage import readable_span
from scoring.lexicon import load_shipped
from scoring.text.prepared_text import PreparedText

MODES = """Modes.

# Menu Go

- **Go / Next folder** (N): Goes to the next folder. Folders without letters are passed over.
- **Go / Folder...** (J): Shows all folders in a window in which you can choose one of them.

Long ago this was otherwise. Now it is not.

## Prices

It costs 5 euros.

| Name | Price |
|---|---|
| Bag | 5 |
| Coat | 7: dry |
"""


def shown(text: str, first: str, last: str | None = None, gains: tuple[float, ...] | None = None) -> str:
    """Give what is shown of the sentences that start with these words."""
    prepared = PreparedText.of(text, load_shipped()["en"])
    spans = prepared.cached(sentence_index).spans
    starts = [
        next(n for n, span in enumerate(spans) if span[1] > text.index(each))
        for each in (first, last or first)
    ]
    sentences = spans[starts[0] : starts[1] + 1]
    start, end = readable_span(prepared, sentences, gains or (0.0,) * len(sentences))
    return text[start:end]


NEXT = "**Go / Next folder** (N): Goes to the next folder. Folders without letters are passed over."
UNDER_HEADING = f"# Menu Go\n\n- {NEXT}"
FOLDER = "**Go / Folder...** (J): Shows all folders in a window in which you can choose one of them."


@pytest.mark.parametrize(
    ("first", "passage"),
    [
        ("Folders without", UNDER_HEADING),
        ("**Go / Folder", FOLDER),
        ("Shows all", FOLDER),
        ("Now it", "Now it is not."),
        ("It costs", "## Prices\n\nIt costs 5 euros."),
        ("Prices", "## Prices\n\nIt costs 5 euros."),
        ("Bag", "| Name | Price |\n|---|---|\n| Bag | 5 |"),
        ("dry", "| Name | Price |\n|---|---|\n| Bag | 5 |\n| Coat | 7: dry |"),
    ],
)
def test_a_sentence_comes_with_its_label_heading_or_header(first: str, passage: str) -> None:
    assert shown(MODES, first) == passage


def test_the_label_of_the_next_item_is_left_out_or_comes_with_its_text() -> None:
    assert shown(MODES, "Folders without", "**Go / Folder", (2, 1)) == UNDER_HEADING
    text = MODES.replace("Folder...", "Folder")
    assert shown(text, "Folders without", "**Go / Folder", (1, 2)) == FOLDER.replace("...", "")


def test_of_sentences_around_a_heading_the_side_is_shown_that_has_more_of_the_claim() -> None:
    assert shown(MODES, "Now it", "It costs", (1, 0, 2)) == "## Prices\n\nIt costs 5 euros."
    assert shown(MODES, "Now it", "It costs", (3, 0, 2)).endswith("Now it is not.")


def test_a_far_label_is_left_out_and_an_endless_sentence_is_not_completed() -> None:
    far = f"- **Mode**: {'It is so. ' * 40}At last it works.\n"
    assert shown(far, "At last") == "At last it works."
    endless = f"It works; {'and so on ' * 500}"
    assert shown(endless, "It works") == "It works"


LINES = st.sampled_from(
    ["# A b", "It works: yes. No", "- **Mode**: one. Two", "| a: x | b |", "|---|", "", "on", "1. Go"]
)


@given(st.lists(LINES, max_size=10), st.data())
def test_a_passage_is_a_span_of_the_text_with_one_of_its_sentences(
    lines: list[str], data: st.DataObject
) -> None:
    text = PreparedText.of("\n".join(lines), load_shipped()["en"])
    spans = text.cached(sentence_index).spans
    if not spans:
        return
    first = data.draw(st.integers(0, len(spans) - 1))
    sentences = spans[first : first + 3]
    start, end = readable_span(text, sentences, [1.0, 2.0, 0.5][: len(sentences)])
    assert 0 <= start < end <= len(text.original)
    assert any(start <= each[0] and each[1] <= end for each in sentences)
