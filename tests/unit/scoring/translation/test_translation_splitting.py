"""A text is split into sentences, and their translations leave its structure unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.translation.splitting import assemble, split_sentences

TEXTS = st.text(
    st.sampled_from(["a", "B", "é", "7", ".", "!", "。", " ", "\n", "*", "#", "-", "|", "`", ">", ")", "\t"]),
    max_size=200,
)


def sentences(text: str, longest: int = 1000) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, longest)]


def shouted(text: str, longest: int = 1000) -> str:
    parts = tuple(split_sentences(text, longest))
    return assemble(text, parts, [text[start:end].upper() for start, end in parts]).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Klik op Nieuw. Kies daarna Opslaan! Klaar?", ["Klik op Nieuw.", "Kies daarna Opslaan!", "Klaar?"]),
        ("Dat kan bijv. met een pdf.", ["Dat kan bijv. met een pdf."]),
        ("Zie versie 2.0 en 3.1.", ["Zie versie 2.0 en 3.1."]),
        ("1. Klik op **Nieuw**.\n2) Kies een rooster.", ["Klik op **Nieuw**.", "Kies een rooster."]),
        ("# Kop\n\n- punt\n> citaat", ["Kop", "punt", "citaat"]),
        ("**Fout K-1: Bestaat al. Let op.** De rest.", ["**Fout K-1: Bestaat al. Let op.**", "De rest."]),
        ("| Stap | Wanneer |\n|---|---|\n| 1 | Na 7 dagen |", ["Stap", "Wanneer", "Na 7 dagen"]),
        ("Doe dit:\n```\nkosten = 1\n```\nKlaar.", ["Doe dit:", "Klaar."]),
        ("请点击保存。然后关闭。", ["请点击保存。", "然后关闭。"]),
        ("404\n---\n \n", []),
        ("2022 staat nog open.", ["2022 staat nog open."]),
        ("- 12 dagen.\n1. 3 uur.", ["12 dagen.", "3 uur."]),
        ("#7 is open, **let op**", ["#7 is open, **let op**"]),
        ("", []),
    ],
)
def test_sentences_are_found_within_the_structure_of_a_text(text, expected):
    assert sentences(text) == expected


def test_numbers_headings_marks_and_code_stay_as_they_are():
    text = "## kop\n\n1. klik **op**. Dan:\n   2) kies\n\n| a | 7 |\n\n```\ncode\n```\nklaar\n"
    assert (
        shouted(text) == "## KOP\n\n1. KLIK **OP**. DAN:\n   2) KIES\n\n| A | 7 |\n\n```\ncode\n```\nKLAAR\n"
    )


def test_a_very_long_sentence_is_cut_between_clauses_and_then_anywhere():
    clauses = "een lange bijzin, " * 20
    assert all(len(sentence) <= 50 for sentence in sentences(clauses, 50))
    assert " ".join(sentences(clauses, 50)) == clauses.strip()
    assert sentences("x" * 120, 50) == ["x" * 50, "x" * 50, "x" * 20]


@given(TEXTS, st.integers(5, 60))
def test_sentences_are_in_order_short_and_not_blank(text, longest):
    previous_end = 0
    for start, end in split_sentences(text, longest):
        assert previous_end <= start < end <= start + longest
        assert text[start:end] == text[start:end].strip()
        assert any(map(str.isalpha, text[start:end]))
        previous_end = end


@given(
    st.sampled_from(["", "- ", "1. ", "> - ", "## "]), st.from_regex(r"[0-9#>*.-]{0,4}[a-z]+", fullmatch=True)
)
def test_only_whole_list_marks_are_left_out_of_a_sentence(marks, rest):
    assert sentences(marks + rest) == [rest.lstrip(">")]


@given(TEXTS, st.data())
def test_every_letter_and_digit_is_in_a_segment(text, data):
    spans = tuple(split_sentences(text, 40))
    translations = [data.draw(st.sampled_from(["Yes.", "", "a longer one"])) for _ in spans]
    assembled = assemble(text, spans, translations)
    by_span = dict(zip(spans, translations, strict=True))
    covered: set[int] = set()
    previous = (0, 0)
    for segment in assembled.segments:
        assert previous[0] <= segment.start <= segment.end
        assert previous[1] <= segment.translated_start <= segment.translated_end
        translated = assembled.text[segment.translated_start : segment.translated_end]
        assert translated == by_span.get((segment.start, segment.end), text[segment.start : segment.end])
        covered.update(range(segment.start, segment.end))
        previous = (segment.end, segment.translated_end)
    assert {index for index, character in enumerate(text) if character.isalnum()} <= covered


@given(st.text(max_size=300))
def test_untranslated_sentences_assemble_to_the_text(text):
    spans = tuple(split_sentences(text, 50))
    assert assemble(text, spans, [text[start:end] for start, end in spans]).text == text


@pytest.mark.timeout(10)
@pytest.mark.parametrize("unit", [". ", "**", "|", "> ", "1. ", "```\n", "a.B ", "（。", "\t", '."'])
def test_a_hostile_text_takes_linear_time(unit):
    list(split_sentences(unit * (100_000 // len(unit)), 1000))
