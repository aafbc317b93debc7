from datetime import date
from decimal import Decimal

import pytest

from scoring.figures.calendar_periods import CalendarPeriod, calendar_periods, whole_period
from scoring.figures.data_blocks import find_blocks
from scoring.figures.grids import grids, listings
from scoring.figures.quantities import NumberConvention, find_quantities, parse_number
from scoring.figures.table_cells import figure_stem
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


TABLE = """# Omzet

| Regio | Omzet | Klanten |
|:------|------:|--------:|
| **Noord** | € 1.200 | 12 |
| Zuid | € 900,50 | 8 |
| Totaal | € 2.100,50 | 20 |
"""


def read(text, language="nl"):
    return grids(PreparedText.of(text, LEXICONS[language]))


def test_a_table_is_read_with_its_labels_units_and_places():
    grid, turned = read(TABLE)
    assert [row.text for row in grid.rows] == ["Noord", "Zuid"]
    assert [column.text for column in grid.columns] == ["Omzet", "Klanten"]
    assert [[cell.quantity.unit for cell in row] for row in grid.cells] == [["EUR", None], ["EUR", None]]
    assert all(TABLE[cell.start : cell.end] == cell.text for row in grid.cells for cell in row)
    assert turned.is_transposed
    assert turned.rows == grid.columns


def test_totals_are_no_row_and_are_kept_to_compare():
    grid = read(TABLE)[0]
    assert [cell.text for cell in grid.totals.values()] == ["€ 2.100,50", "20"]


def test_one_number_of_a_clear_shape_decides_how_a_table_is_read():
    assert read(TABLE)[0].conventions == (NumberConvention.COMMA,)
    unclear = TABLE.replace("€ 900,50", "€ 1.900").replace("2.100,50", "2.100")
    assert read(unclear)[0].conventions == (NumberConvention.COMMA, NumberConvention.POINT)
    assert read(unclear.replace("1.900", "900"))[0].conventions == (NumberConvention.COMMA,)


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
    [grid] = read(text)
    assert [row.text for row in grid.rows] == ["a", "b"]
    assert [row[0].text for row in grid.cells] == ["5", "7,5"]
    assert all(text[cell.start : cell.end] == cell.text for row in grid.cells for cell in row)


@pytest.mark.parametrize(
    "text",
    [
        "Kies de optie, klik op Opslaan, en wacht.\nDaarna, als het kan, kun je verder.\nKlaar, dus.",
        "| a | b |\n| 1 | 2 |\n| 3 | 4 |",
        "| a | b |\n|---|---|\n| x | y |\n| z | w |",
        "| a | b |\n|---|---|\n| x | 1,2 |\n| y | 1.2 |\n",
        "- a: 5\n",
        "Let op: dit kan niet.\nTip: vraag het na.",
    ],
)
def test_sentences_and_what_cannot_be_read_whole_are_no_data(text):
    assert read(text) == ()


def test_a_table_that_is_too_large_is_left_out_as_a_whole():
    rows = "".join(f"| r{n} | {n} |\n" for n in range(201))
    assert read(f"| a | b |\n|---|---|\n{rows}") == ()
    assert read(f"| a | b |\n|---|---|\n{rows.rsplit('| r200', 1)[0]}")


def test_years_and_times_above_columns_are_labels():
    grid, turned = read("Regio;2022;2023\nNoord;5;6\nZuid;7;8\n")
    assert [column.period for column in grid.columns] == [
        CalendarPeriod(year=2022),
        CalendarPeriod(year=2023),
    ]
    assert [row.period for row in turned.rows] == [CalendarPeriod(year=2022), CalendarPeriod(year=2023)]


@pytest.mark.parametrize(
    ("header", "times_"),
    [
        ("Region;Q1 sales;Q2 sales", [CalendarPeriod(quarter=1), CalendarPeriod(quarter=2)]),
        ("Region;Sales 2022;Sales 2023 (€)", [CalendarPeriod(year=2022), CalendarPeriod(year=2023)]),
        ("Region;Q1 sales;Q2 costs", [None, None]),
        ("Region;Q1 sales;Sales", [None, None]),
    ],
)
def test_columns_that_differ_in_their_time_alone_are_these_times(header, times_):
    grid, _ = read(f"{header}\nNorth;5;6\nSouth;7;8\n", "en")
    assert [column.period for column in grid.columns] == times_


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


def test_columns_of_yes_and_no_are_read_and_others_are_not():
    text = "Role;Edit;Export;Since\nOwner;yes;✓;2020\nGuest;no;-;2021\n"
    [listing] = listings(PreparedText.of(text, LEXICONS["en"]))
    assert [column.text for column in listing.yes_no_columns] == ["Edit", "Export"]
    assert listing.yes_cells == ((True, True), (False, False))


def test_a_lead_in_gives_lists_their_unit_and_says_whether_they_are_complete():
    [grid] = read("Uren per project:\n\n- Alfa: 5\n- Beta: 7\n")
    assert grid.columns[0].unit == "hour"
    assert grid.is_complete
    assert not read("Bijvoorbeeld:\n- Alfa: 5\n- Beta: 7\n")[0].is_complete


def test_no_block_is_made_of_too_many():
    assert len(find_blocks("- a: 1\n- b: 2\n\nEn.\n\n" * 50)) == 50
    assert find_blocks("- a: 1\n- b: 2\n\nEn.\n\n" * 51) == ()
