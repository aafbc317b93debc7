"""A number of listed things is confirmed in either format and language, and no text makes a check fail."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.values.checked_claims import ClaimStatus
from tests.unit.scoring.figures.figures_support import LEXICONS, checked, outcome

REGIONS = ("Alfa", "Bravo", "Delta", "Foxtrot", "Golf", "Hotel", "India", "Kilo")
NOUNS = {"nl": ("Abonnement", "Abonnementen"), "en": ("Plan", "Plans")}
THERE_ARE = {"nl": "Er zijn {} {}", "en": "There are {} {}"}


def pipes(names, one, many):
    return "\n".join([f"| {one} | Prijs |", "|---|---|", *(f"| {name} | € 5 |" for name in names)])


def semicolons(names, one, many):
    return "\n".join([f"{one};Prijs", *(f"{name};5" for name in names)])


def items(names, one, many):
    return "\n".join([f"# {many}\n\n{many}:\n", *(f"- {name}" for name in names)])


def keys(names, one, many):
    return "\n".join([f"# {many}\n\n{many}:\n", *(f"**{name}:** € 5" for name in names)])


@st.composite
def data(draw):
    """A language, a document that lists things, and their names."""
    language, layout = (
        draw(st.sampled_from(["nl", "en"])),
        draw(st.sampled_from([pipes, semicolons, items, keys])),
    )
    names = REGIONS[: draw(st.integers(2, len(REGIONS)))]
    return language, layout(names, *NOUNS[language]) + "\n\nVraag het ons.\n", names


@given(data(), st.integers(2, 20))
def test_the_number_of_listed_things_is_confirmed_and_any_other_one_refuted(drawn, claimed):
    language, document, names = drawn
    claim = THERE_ARE[language].format(claimed, NOUNS[language][1].lower())
    assert outcome(claim, document, language) == ("supported" if claimed == len(names) else "contradicted")


WORDS = """totaal samen gemiddeld verschil meer minder dan 40% van omzet total average difference more than of
Alfa 1.234 1,234 € 5 -3 0 12,5% 2024 maart Q1 eerste drie | --- ; : - tussen and dagen elke steeg hoogste 1e9
Bravo 999999999999999 ٣ ² “ ‑ 0.0 -0"""
PIECES = st.sampled_from([*WORDS.split(), "\n", "\u00a0", ""])
ANY = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=30).map(" ".join))


@given(ANY, st.lists(ANY, max_size=3), st.sampled_from(["nl", "en"]))
def test_no_text_makes_it_fail(clause, documents, language):
    found = checked(clause, documents, language, offset=5)
    assert found is None or 5 <= found.start <= found.end <= 5 + len(clause)


@given(st.lists(PIECES, min_size=1, max_size=30).map(" ".join), data())
def test_whatever_is_claimed_of_data_its_derivation_stands_in_them(clause, drawn):
    language, document, _ = drawn
    many = NOUNS[language][1].lower()
    found = checked(f"{THERE_ARE[language].format(3, many)} {clause}", document, language)
    if found is not None and found.status is not ClaimStatus.NOT_CHECKABLE:
        assert all(document[row.start : row.end] == row.text for row in found.derivation.rows)


HOSTILE = [
    "|",
    "|-",
    "a|b\n",
    "- a: 1\n",
    "a,b\n",
    "1.",
    "1,1",
    '"',
    '"a",',
    "€",
    "a: 1\n\n",
    " ",
    "1 maart ",
    ";",
    "\t",
    "|---|\n",
    "Q1 ",
    "- ",
    "1" * 50,
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_no_long_text_takes_long(unit):
    text = (unit * 100_000)[:100_000]
    began = time.process_time()
    checked("De totale omzet van Alfa was 5", "| a | b |\n|---|---|\n| x | 1 |\n| y | 2 |\n\n" + text, "nl")
    checked(text, "| a | b |\n|---|---|\n| x | 1 |\n| y | 2 |\n", "nl")
    assert time.process_time() - began < 10


def test_the_words_of_both_languages_have_the_same_lists():
    for lexicon in LEXICONS.values():
        assert lexicon.figures.units.keys() == LEXICONS["en"].figures.units.keys()
        assert lexicon.figures.scales.keys() == LEXICONS["en"].figures.scales.keys()
