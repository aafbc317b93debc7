"""True statements of random data are confirmed in either format and language, and other numbers refuted."""

import time
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scoring.figures.figure_claims import FigureOutcome
from tests.unit.scoring.figures.figures_support import LEXICONS, checked, outcome

REGIONS = ("Alfa", "Bravo", "Delta", "Foxtrot", "Golf", "Hotel", "India", "Kilo")
MONTHS = {
    "nl": ("januari", "februari", "maart", "april", "juni", "juli", "augustus", "oktober"),
    "en": ("January", "February", "March", "April", "June", "July", "August", "October"),
}
VALUE = {"nl": "Omzet", "en": "Revenue"}


def written(value, language, *, grouped):
    """A number as it is written in a language."""
    text = f"{value:,}" if grouped else str(value)
    return text.translate(str.maketrans(",.", ".,")) if language == "nl" else text


def pipes(rows, header):
    return "\n".join(["| " + " | ".join(row) + " |" for row in (header, ("---", "---"), *rows)])


def semicolons(rows, header):
    return "\n".join(";".join(row) for row in (header, *rows))


def items(rows, header):
    return f"{header[1]}:\n\n" + "\n".join(f"- {name}: {value}" for name, value in rows)


@st.composite
def data(draw, timed=False, may_group=True):
    """A language, a document with a column of random figures, their labels and values, how to write one."""
    language = draw(st.sampled_from(["nl", "en"]))
    decimals, grouped = draw(st.sampled_from([0, 2])), may_group and draw(st.booleans())
    number = st.integers(1, 10_000_000).map(lambda n: Decimal(n).scaleb(-decimals))
    values = draw(st.lists(number, min_size=3, max_size=8, unique=True))
    labels = (MONTHS[language] if timed else REGIONS)[: len(values)]
    currency = draw(st.sampled_from(["", "€ "]))

    def write(value):
        return currency + written(value, language, grouped=grouped)

    rows = [(name, write(value)) for name, value in zip(labels, values, strict=True)]
    header = (
        ("Maand" if language == "nl" else "Month", VALUE[language]) if timed else ("Post", VALUE[language])
    )
    layout = draw(st.sampled_from([pipes, semicolons, items]))
    return language, layout(rows, header), labels, values, write


def rounded(value, places="0.01"):
    return value.quantize(Decimal(places), ROUND_HALF_UP)


SENTENCES = {
    "sum": {"nl": "De {what} was in totaal {n}", "en": "The total {what} was {n}"},
    "average": {"nl": "De gemiddelde {what} was {n}", "en": "The average {what} was {n}"},
    "highest": {"nl": "De hoogste {what} was {n}", "en": "The highest {what} was {n}"},
    "lowest": {"nl": "De laagste {what} was {n}", "en": "The lowest {what} was {n}"},
    "pair": {"nl": "{a} en {b} hadden samen {n} {what}", "en": "{a} and {b} together had {n} {what}"},
    "difference": {
        "nl": "Het verschil in {what} tussen {a} en {b} is {n}",
        "en": "The difference in {what} between {a} and {b} is {n}",
    },
    "more": {"nl": "{a} had {n} meer {what} dan {b}", "en": "{a} had {n} more {what} than {b}"},
    "share": {"nl": "{a} was goed voor {n}% van de {what}", "en": "{a} accounted for {n}% of the {what}"},
    "growth": {
        "nl": "De {what} steeg van {a} naar {b} met {n}%",
        "en": "The {what} rose by {n}% from {a} to {b}",
    },
}


def truth(kind, values, a, b):
    results = {
        "sum": sum(values),
        "average": rounded(sum(values) / len(values)),
        "highest": max(values),
        "lowest": min(values),
        "pair": a + b,
        "difference": abs(a - b),
        "more": a - b,
        "share": rounded(a / sum(values) * 100),
        "growth": rounded((b - a) / a * 100),
    }
    return results[kind]


def sentence(kind, language, labels, n, pair):
    first, second = (labels[place] for place in pair)
    return SENTENCES[kind][language].format(what=VALUE[language].lower(), a=first, b=second, n=n)


@pytest.mark.parametrize("kind", list(SENTENCES))
@given(given_data=st.data())
def test_what_is_true_is_confirmed_and_what_is_far_off_is_refuted(kind, given_data):
    language, document, labels, values, write = given_data.draw(data(timed=kind == "growth"))
    pair = sorted(given_data.draw(st.permutations(range(len(labels))))[:2])
    a, b = (values[place] for place in pair)
    if kind == "more" and a < b:
        pair.reverse()
        a, b = b, a
    if kind == "growth":
        assume(a < b)
    value = truth(kind, values, a, b)
    assume(value != 0)
    is_percent = kind in {"share", "growth"}

    def told(number):
        number = number.normalize() if number == number.to_integral() else number
        plain = Decimal(format(number, "f"))
        return written(plain, language, grouped=False) if is_percent else write(plain)

    assert outcome(sentence(kind, language, labels, told(value), pair), document, language) == "confirmed"
    other = value * 2 + 7
    assume(other not in values)
    assert outcome(sentence(kind, language, labels, told(other), pair), document, language) == "refuted"


@given(st.dates(date(1950, 1, 1), date(2090, 1, 1)), st.integers(1, 400), st.sampled_from(["nl", "en"]))
def test_days_between_two_dates_are_counted(start, days, language):
    end = start.fromordinal(start.toordinal() + days)
    document = f"Alfa: {start:%Y-%m-%d}\nBravo: {end:%Y-%m-%d}\n"
    claim = {"nl": "Tussen Alfa en Bravo zitten {} dagen", "en": "There are {} days between Alfa and Bravo"}[
        language
    ]
    assert outcome(claim.format(days), document, language) == "confirmed"
    assert outcome(claim.format(days * 2 + 7), document, language) == "refuted"


WORDS = """totaal samen gemiddeld verschil meer minder dan 40% van omzet total average difference more than of
Alfa 1.234 1,234 € 5 -3 0 12,5% 2024 maart Q1 eerste drie | --- ; : - tussen and dagen elke steeg hoogste 1e9
Bravo 999999999999999 ٣ ² “ ‑ 0.0 -0"""
PIECES = st.sampled_from([*WORDS.split(), "\n", "\u00a0", ""])
ANY = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=30).map(" ".join))


@given(ANY, st.lists(ANY, max_size=3), ANY, st.sampled_from(["nl", "en"]))
def test_no_text_makes_it_fail(clause, documents, before, language):
    found = checked(clause, documents, language, offset=5, before=before)
    assert found is None or 5 <= found.start <= found.end <= 5 + len(clause)


@given(st.lists(PIECES, min_size=1, max_size=30).map(" ".join), data(), st.integers(0, 3))
def test_whatever_is_claimed_of_data_its_derivation_stands_in_them(clause, drawn, at):
    language, document, labels, _, _ = drawn
    found = checked(f"{labels[at % len(labels)]} {clause}", document, language)
    if found is not None and found.outcome is not FigureOutcome.NOT_CHECKABLE:
        assert all(document[cell.start : cell.end] == cell.text for cell in found.derivation.cells)


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
