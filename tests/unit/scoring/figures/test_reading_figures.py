from datetime import date
from decimal import Decimal

import pytest

from scoring.figures.data_blocks import find_blocks
from scoring.figures.quantities import Bound, Closeness, closeness, find_quantities, parse_number
from scoring.figures.tables import figure_stem, listings, tables
from scoring.figures.times import CalendarPeriod, calendar_periods, whole_period
from scoring.text.prepared_text import PreparedText
from tests.unit.scoring.figures.figures_support import LEXICONS


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("12", "12", "12"),
        ("1.234,56", None, "1234.56"),
        ("1,234.56", "1234.56", None),
        ("1.234", "1.234", "1234"),
        ("1,234", "1234", "1.234"),
        ("1.234.567", None, "1234567"),
        ("1\u00a0234,5", None, "1234.5"),
        ("0.234", "0.234", None),
        ("12.5", "12.5", None),
        ("12,50", None, "12.50"),
        ("1.50", "1.50", None),
    ],
)
def test_a_number_is_read_both_ways_where_its_shape_allows(text, point, comma):
    number = parse_number(text)
    assert number.point == (point and Decimal(point))
    assert number.comma == (comma and Decimal(comma))


@pytest.mark.parametrize(
    "text", ["", "1.2.3", "007", "1,2,3", "1.23.456", "1" * 16, "1234.567.890", "a", "1."]
)
def test_what_is_no_number_is_read_as_none(text):
    assert parse_number(text) is None


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("€ 1.234,50 per maand", "nl", [("1234.50", "EUR")]),
        ("12,5% van 300 euro", "nl", [("12.5", "percent"), ("300", "EUR")]),
        ("$3.50, EUR 4 and 5 pounds", "en", [("3.50", "USD"), ("4", "EUR"), ("5", "GBP")]),
        ("1,5 miljoen euro", "nl", [("1500000", "EUR")]),
        ("10k and 5GB", "en", [("10000", None), ("5", "GB")]),
        ("-3 procent", "nl", [("-3", "percent")]),
        ("€ 5,- korting", "nl", [("5", "EUR")]),
        ("version 1.2.3, 10:30, 3rd, Q1, 10-20, 2024-03-03", "en", []),
    ],
)
def test_amounts_are_found_with_their_units(text, language, found):
    read = find_quantities(text, LEXICONS[language].figures)
    assert [(each.number.values[-1], each.unit) for each in read] == [(Decimal(n), unit) for n, unit in found]


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("3 maart 2024", "nl", date(2024, 3, 3)),
        ("March 3, 2024", "en", date(2024, 3, 3)),
        ("3 March 2024", "en", date(2024, 3, 3)),
        ("2024-03-03", "en", date(2024, 3, 3)),
        ("04-03-2024", "nl", date(2024, 3, 4)),
        ("25/03/2024", "en", date(2024, 3, 25)),
        ("03-04-2024", "en", None),
        ("31-02-2024", "nl", None),
    ],
)
def test_a_date_is_read_unless_its_order_is_unclear_or_it_is_none(text, language, day):
    time = whole_period(text, LEXICONS[language])
    assert (time and time.date) == day


@pytest.mark.parametrize(
    ("text", "language", "time"),
    [
        ("maart", "nl", CalendarPeriod(month=3)),
        ("Mrt 2024", "nl", CalendarPeriod(year=2024, month=3)),
        ("2024-03", "en", CalendarPeriod(year=2024, month=3)),
        ("2023", "en", CalendarPeriod(year=2023)),
        ("Q2 2024", "en", CalendarPeriod(year=2024, quarter=2)),
    ],
)
def test_months_quarters_and_years_are_read(text, language, time):
    assert whole_period(text, LEXICONS[language]) == time


def test_a_verb_is_not_taken_for_a_month():
    found = calendar_periods("May I pay in May? You may.", LEXICONS["en"])
    assert [start for _, start, _ in found] == [13]


@pytest.mark.parametrize(
    ("true", "claimed", "bound", "close"),
    [
        ("4050", "4050", Bound.EXACT, Closeness.SAME),
        ("4050", "4000", Bound.EXACT, Closeness.NEAR),
        ("800.17", "800.1", Bound.EXACT, Closeness.NEAR),
        ("4050", "4000", Bound.ABOUT, Closeness.SAME),
        ("4050", "3000", Bound.ABOUT, Closeness.OFF),
        ("4050", "4000", Bound.ABOVE, Closeness.SAME),
        ("4050", "4000", Bound.BELOW, Closeness.OFF),
        ("4050", "4050", Bound.AT_LEAST, Closeness.SAME),
        ("4050", "4000", Bound.AT_MOST, Closeness.OFF),
    ],
)
def test_a_figure_is_held_to_what_it_says_as_precisely_as_it_is_written(true, claimed, bound, close):
    assert closeness(Decimal(true), Decimal(claimed), bound) is close


TABLE = """# Omzet

| Regio | Omzet | Uren |
|:------|------:|--------:|
| **Noord** | € 1.200 | 12 |
| Zuid | € 900,50 | n.n.b. |
"""


def read(text, language="nl"):
    return tables(PreparedText.of(text, LEXICONS[language]))


def amounts(table, language="nl"):
    words = LEXICONS[language].figures
    found = [
        table.amount(row, column, words)
        for row in range(len(table.rows))
        for column in range(len(table.columns))
    ]
    return [each and (each[0].number.values[-1], each[1]) for each in found]


def test_a_table_is_read_with_its_names_units_and_places():
    [table] = read(TABLE)
    assert [row.text for row in table.rows] == ["Noord", "Zuid"]
    assert table.columns == ("Omzet", "Uren")
    assert amounts(table) == [(1200, "EUR"), (12, "hour"), (Decimal("900.50"), "EUR"), None]
    assert all(TABLE[cell.start : cell.end] == cell.text for row in table.cells for cell in row)
    start, end = table.row_spans[0]
    assert TABLE[start:end] == "Noord** | € 1.200 | 12"


@pytest.mark.parametrize(
    "text",
    [
        "name;hours\na;5\nb;7,5\n",
        "name\thours\na\t5\nb\t7,5\n",
        'name,hours\na,5\nb,"7,5"\n',
        "- a: 5\n- **b:** 7,5\n",
        "1. a: 5\n\n2. b: 7,5\n",
        "a: 5\nb: 7,5\n",
        "a = 5\nb = 7,5\n",
        "a - 5\nb - 7,5\n",
    ],
)
def test_separated_values_and_named_lines_are_read_as_a_table_is(text):
    [table] = read(text)
    assert [row.text for row in table.rows] == ["a", "b"]
    assert [row[0].text for row in table.cells] == ["5", "7,5"]
    assert all(text[cell.start : cell.end] == cell.text for row in table.cells for cell in row)


@pytest.mark.parametrize(
    "text",
    [
        "Kies de optie, klik op Opslaan, en wacht.\nDaarna, als het kan, kun je verder.\nKlaar, dus.",
        "| a | b |\n| 1 | 2 |\n| 3 | 4 |",
        "| a | b |\n|---|---|\n| x | 1 |\n| y |",
        "- a: 5\n",
    ],
)
def test_sentences_and_what_cannot_be_read_whole_are_no_data(text):
    assert read(text) == ()


def test_a_table_that_is_too_large_is_left_out_as_a_whole():
    rows = "".join(f"| r{n} | {n} |\n" for n in range(201))
    assert read(f"| a | b |\n|---|---|\n{rows}") == ()
    assert read(f"| a | b |\n|---|---|\n{rows.rsplit('| r200', 1)[0]}")


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("rol", "rollen", "nl"),
        ("formaat", "formaten", "nl"),
        ("versie", "versies", "nl"),
        ("bijlage", "bijlagen", "nl"),
        ("brief", "brieven", "nl"),
        ("invoice", "invoices", "en"),
        ("role", "roles", "en"),
    ],
)
def test_singular_and_plural_are_compared_as_one(one, other, language):
    assert figure_stem(one, LEXICONS[language]) == figure_stem(other, LEXICONS[language])


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("# Plans\n\n- Basic\n- Team\n", {"plan"}),
        ("# Plans\n\nChoose the plan that you like:\n\n- Basic\n- Team\n", {"plan"}),
        ("# Prices\n\nYou can pay with:\n\n- Visa\n- PayPal\n", set()),
        ("# Export\n\nThese formats are supported:\n\n- CSV\n- JSON\n", {"format"}),
        ("# Opening hours of the help desk\n\n- Monday\n- Tuesday\n", set()),
        ("# Export\n\nFormat;Size\nCSV;small\nJSON;large\n", {"format"}),
    ],
)
def test_what_stands_above_a_list_tells_what_its_items_are_called(text, called):
    [listing] = listings(PreparedText.of(text, LEXICONS["en"]))
    assert listing.row_nouns == called
    assert len(listing.rows) == 2


@pytest.mark.parametrize(
    ("text", "is_complete"),
    [
        ("# Uren\n\nUren per project:\n\n- Alfa: 5\n- Beta: 7\n\nKlaar.", True),
        ("# Uren\n\nBijvoorbeeld:\n\n- Alfa: 5\n- Beta: 7\n\nKlaar.", False),
        ("# Uren\n\nUren per project:\n\n- Alfa: 5\n- Beta: 7\n", False),
        ("Uren\n\n- Alfa: 5\n- Beta: 7\n\nKlaar.", False),
    ],
)
def test_a_list_of_examples_or_at_the_edge_of_a_passage_may_not_be_complete(text, is_complete):
    [table] = read(text)
    assert table.is_complete is is_complete


def test_no_block_is_made_of_too_many():
    assert len(find_blocks("- a: 1\n- b: 2\n\nEn.\n\n" * 50)) == 50
    assert find_blocks("- a: 1\n- b: 2\n\nEn.\n\n" * 51) == ()
