from dataclasses import replace

import pytest

from scoring.figures.figure_checking import check_clause
from scoring.figures.figure_claims import FigureOutcome
from tests.unit.scoring.figures.figures_support import LEXICONS, checked, outcome, source

NL = """# Omzet 2024

De omzet per maand:

| Maand | Omzet | Kosten | Klanten |
|---|---|---|---|
| Januari | € 1.200 | € 800 | 40 |
| Februari | € 1.500 | € 900,50 | 55 |
| Maart | € 1.350 | € 700 | 50 |
"""
EN = """# Plans

| Plan | Price per month | Users | Storage |
|------|----------------:|------:|---------|
| Basic | $10.00 | 5 | 10 GB |
| Team | $25.00 | 20 | 50 GB |
| Business | $60.00 | 100 | 200 GB |
"""
DATES_NL = "| Mijlpaal | Datum |\n|---|---|\n| Kick-off | 3 maart 2024 |\n| Oplevering | 12-04-2024 |\n"
DATES_EN = "Start date: March 3, 2024\nEnd date: 2024-04-12\n"
WIDE = 'Region,2021,2022,2023\nNorth,"1,200","1,300","1,250"\nSouth,900,950,"1,010"\n'
CLAIMS = [
    # (claim, its documents, language, a wrong one)
    ("De totale omzet was € 4.050.", NL, "nl", "De totale omzet was € 4.350."),
    (
        "In januari en februari samen was de omzet 2700 euro",
        NL,
        "nl",
        "In januari en februari samen was de omzet 2755 euro",
    ),
    ("De omzet was gemiddeld € 1.350 per maand", NL, "nl", "De kosten waren gemiddeld € 1.350 per maand"),
    (
        "In februari was de omzet € 300 hoger dan in januari",
        NL,
        "nl",
        "In januari was de omzet € 300 hoger dan in februari",
    ),
    (
        "In januari lag de omzet 20% lager dan in februari",
        NL,
        "nl",
        "In januari lag de omzet 25% lager dan in februari",
    ),
    ("De omzet was in februari hoger dan in maart", NL, "nl", "De omzet was in januari hoger dan in maart"),
    (
        "Het verschil tussen de omzet en de kosten in maart is 650 euro",
        NL,
        "nl",
        "Het verschil tussen de omzet en de kosten in maart is 665 euro",
    ),
    ("Januari was goed voor 29,6% van de omzet", NL, "nl", "Januari was goed voor 32% van de omzet"),
    (
        "De omzet steeg van januari naar februari met 25%",
        NL,
        "nl",
        "De omzet daalde van januari naar februari met 25%",
    ),
    (
        "De omzet steeg van januari naar februari met € 300, van € 1.200 naar € 1.500",
        NL,
        "nl",
        "De omzet steeg van januari naar februari met € 400, van € 1.200 naar € 1.500",
    ),
    ("De kosten waren het laagst in maart", NL, "nl", "De kosten waren het laagst in januari"),
    ("De hoogste omzet was € 1.500 in februari", NL, "nl", "De hoogste omzet was € 1.500 in maart"),
    ("Het aantal klanten was in februari het hoogst", NL, "nl", "Het aantal klanten was in maart het hoogst"),
    ("In totaal waren er 145 klanten", NL, "nl", "In totaal waren er 146 klanten"),
    (
        "Tussen de kick-off en de oplevering zitten 40 dagen",
        DATES_NL,
        "nl",
        "Tussen de kick-off en de oplevering zitten 45 dagen",
    ),
    ("De oplevering is 40 dagen na de kick-off", DATES_NL, "nl", "De kick-off is 40 dagen na de oplevering"),
    ("Business costs $35 more than Team", EN, "en", "Business costs $45 more than Team"),
    ("Team is more expensive than Basic", EN, "en", "Basic is more expensive than Team"),
    ("The cheapest plan is Basic", EN, "en", "The cheapest plan is Team"),
    ("Basic and Team together allow 25 users", EN, "en", "Basic and Team together allow 105 users"),
    (
        "The average price of the three plans is $31.67",
        EN,
        "en",
        "The average price of the three plans is $33.67",
    ),
    ("There are three plans", EN, "en", "There are five plans"),
    (
        "The difference in price between Basic and Business is $50",
        EN,
        "en",
        "The difference in price between Basic and Business is $40",
    ),
    (
        "There are 40 days between the start date and the end date",
        DATES_EN,
        "en",
        "There are 50 days between the start date and the end date",
    ),
    ("North grew by 8.3% from 2021 to 2022", WIDE, "en", "North grew by 9.3% from 2021 to 2022"),
    (
        "North accounted for 57.8% of the total in 2022",
        WIDE,
        "en",
        "North accounted for 34.7% of the total in 2022",
    ),
    ("In 2023 North and South together had 2,260", WIDE, "en", "In 2022 North and South together had 2,260"),
]


@pytest.mark.parametrize(("claim", "document", "language"), [each[:3] for each in CLAIMS])
def test_what_follows_from_the_data_is_confirmed(claim, document, language):
    assert outcome(claim, document, language) == "confirmed"


@pytest.mark.parametrize(("wrong", "document", "language"), [(each[3], *each[1:3]) for each in CLAIMS])
def test_what_does_not_follow_from_them_is_refuted(wrong, document, language):
    assert outcome(wrong, document, language) == "refuted"


def test_a_refuted_claim_says_what_is_true_and_from_which_cells():
    claim = "De totale omzet was € 4.350."
    found = checked(claim, NL, "nl", offset=100)
    assert (found.outcome, found.obstacle) == (FigureOutcome.REFUTED, None)
    assert claim[found.start - 100 : found.end - 100] == "€ 4.350"
    derivation = found.derivation
    assert derivation.document_id == "d-1"
    assert derivation.formula == "1200 + 1500 + 1350 = 4050"
    assert [cell.text for cell in derivation.cells] == ["€ 1.200", "€ 1.500", "€ 1.350"]
    assert all(NL[cell.start : cell.end] == cell.text for cell in derivation.cells)
    start, end = derivation.span
    assert NL[start:end].startswith("€ 1.200")
    assert NL[start:end].endswith("€ 1.350")


def test_a_claim_without_a_figure_is_all_of_its_clause():
    claim = "The cheapest plan is Team"
    found = checked(claim, EN, "en", offset=7)
    assert (found.start, found.end) == (7, 7 + len(claim))
    assert "(Basic)" in found.derivation.formula


@pytest.mark.parametrize(
    ("claim", "document", "language", "obstacle"),
    [
        ("De totale omzet zonder maart was € 2.800", NL, "nl", "unknown_words"),
        ("De totale omzet exclusief btw was € 4.350", NL, "nl", "unknown_words"),
        ("De totale omzet in 2023 was € 4.350", NL, "nl", "figure"),
        ("De totale omzet was niet € 4.350", NL, "nl", "unknown_words"),
        ("De mediaan van de omzet was € 1.300", NL, "nl", "operation"),
        ("De omzet was in totaal twee keer de gemiddelde omzet", NL, "nl", "operation"),
        ("De totale omzet was 4.350 dollar", NL, "nl", "units"),
        ("In januari was er in totaal € 2.000", NL, "nl", "column"),
        ("De omzet en de kosten waren samen € 10.000", NL, "nl", "column"),
        ("De omzet van januari tot maart was in totaal € 2.700", NL, "nl", "unknown_words"),
        ("De omzet van januari tot en met maart was in totaal € 4.050", NL, "nl", "unknown_words"),
        ("Over de eerste twee maanden was de omzet in totaal € 2.700", NL, "nl", "unknown_words"),
        ("De kosten stegen elke maand", NL, "nl", "unknown_words"),
        ("De omzet steeg in maart met 40%", NL, "nl", "rows"),
        ("De omzet was gemiddeld € 1.200 per maand", NL, "nl", "rows"),
        ("De totale omzet was € 4.051 en € 77", NL, "nl", "figure"),
        ("De omzet per klant was gemiddeld € 30", NL, "nl", "unknown_words"),
        ("De totale omzet was € 4.000", NL, "nl", "rounding"),
        ("De kosten waren gemiddeld € 800,1", NL, "nl", "rounding"),
        ("Both plans together cost $95.50: Basic, Team and Business", EN, "en", "rows"),
        ("Business costs twice as much as Team", EN, "en", "operation"),
        ("The largest plan, Business, costs $10.00", EN, "en", "column"),
        ("There are 41 days between the start date and the end date", DATES_EN, "en", "operation"),
    ],
)
def test_what_is_not_clear_is_not_checkable_and_says_why(claim, document, language, obstacle):
    assert outcome(claim, document, language) == obstacle


@pytest.mark.parametrize(
    ("claim", "document", "language"),
    [
        ("De omzet in maart was € 1.350.", NL, "nl"),
        ("Je kunt in totaal vijf bijlagen toevoegen.", NL, "nl"),
        ("Klik op Opslaan.", NL, "nl"),
        ("The maximum upload size is 25 MB", EN, "en"),
        ("In total you have 30 days", "No data here.", "en"),
        ("", EN, "en"),
    ],
)
def test_what_claims_nothing_that_follows_from_data_is_no_indirect_claim(claim, document, language):
    assert checked(claim, document, language) is None


def test_a_language_without_words_for_figures_claims_none():
    lexicon = replace(LEXICONS["en"], figures=None)
    assert check_clause("There are four plans", 0, lexicon, [source(EN, "en")]) is None


@pytest.mark.parametrize(
    ("claim", "is_"),
    [
        ("De totale omzet was ongeveer € 4.000", "confirmed"),
        ("De totale omzet was ongeveer € 3.000", "refuted"),
        ("De totale omzet was meer dan € 4.000", "confirmed"),
        ("De totale omzet was minder dan € 4.000", "refuted"),
        ("De totale omzet was ruim € 4.000", "confirmed"),
        ("De totale omzet was ruim € 2.000", "refuted"),
        ("De totale omzet was minstens € 4.050", "confirmed"),
        ("De totale omzet was hooguit € 4.000", "refuted"),
        ("De totale omzet was € 4,05 duizend", "confirmed"),
        ("De totale omzet was € 4,050.00", "confirmed"),
        ("De totale omzet was € 4.050,00", "confirmed"),
    ],
)
def test_a_figure_is_held_to_what_it_says_as_precisely_as_it_is_written(claim, is_):
    assert outcome(claim, NL, "nl") == is_


def test_a_number_that_can_be_read_both_ways_is_refuted_only_by_both():
    unclear = "- Noord: 1.200\n- Zuid: 1.300\n"
    assert outcome("Noord en Zuid samen: 2.500", unclear, "nl") == "confirmed"
    assert outcome("Noord en Zuid samen: 2,5", unclear, "nl") == "confirmed"
    assert outcome("Noord en Zuid samen: 2.700", unclear, "nl") == "refuted"


def test_what_holds_by_only_one_way_to_read_the_numbers_is_not_checkable_without_a_figure():
    text = "| Maand | Omzet | Kosten |\n|---|---|---|\n| januari | 1.500 | 20 |\n| februari | 1.600 | 30 |\n"
    assert outcome("De omzet was in januari hoger dan de kosten", text, "nl") == "cells"


def test_a_unit_that_is_a_column_too_belongs_to_its_figure():
    text = "| Name | Hours |\n|---|---|\n| Anna | 20 |\n| Bram | 25 |\n"
    assert outcome("In total they worked 45 hours", text, "en") == "confirmed"
    assert outcome("In total they worked 46 hours", text, "en") == "refuted"


def test_a_part_of_a_name_names_nothing():
    text = "| Toeslag | Prijs |\n|---|---|\n| Extra gebruiker | € 4 |\n| Opslag | € 3 |\n"
    assert outcome("De gebruiker is € 2 duurder dan de opslag", text, "nl") == "unknown_words"
    assert outcome("De extra gebruiker is € 2 duurder dan de opslag", text, "nl") == "refuted"


@pytest.mark.parametrize("heading", ["Omzet (x € 1.000)", "Omzet (in duizenden euro's)", "Omzet in € x 1000"])
def test_figures_told_in_thousands_are_meant_in_full(heading):
    text = f"| Regio | {heading} |\n|---|---|\n| Noord | 410 |\n| Zuid | 90 |\n"
    assert outcome("Noord en Zuid hadden samen € 500.000 omzet", text, "nl") == "confirmed"
    assert outcome("Noord en Zuid hadden samen € 0,5 miljoen omzet", text, "nl") == "confirmed"
    assert outcome("Noord en Zuid hadden samen 500 omzet", text, "nl") == "confirmed"
    assert outcome("Noord en Zuid hadden samen € 500 omzet", text, "nl") == "refuted"
    assert outcome("Noord was goed voor 82% van de omzet", text, "nl") == "confirmed"


@pytest.mark.parametrize(
    ("claim", "is_"),
    [
        ("In 2023 North was the largest region", "confirmed"),
        ("In 2023 South was the largest region", "refuted"),
        ("In 2023 South was highest", "several_data"),
        ("In 2023 North accounted for 55.3% of the total", "confirmed"),
        ("In 2023 North accounted for 33.3% of the total", "refuted"),
        ("In 2023 33.3% of the total of North was reached", "confirmed"),
        ("In 2023 55.3% of the total of North was reached", "refuted"),
    ],
)
def test_in_a_wide_table_the_words_tell_which_way_it_is_read(claim, is_):
    assert outcome(claim, WIDE, "en") == is_


@pytest.mark.parametrize("columns", ["Q1,Q2,Q3", "Q1 sales,Q2 sales,Q3 sales", "Sales Q1,Sales Q2,Sales Q3"])
def test_the_highest_of_a_quarter_is_one_of_its_column(columns):
    text = f"Region,{columns}\nNorth,120,150,140\nSouth,100,90,160\nEast,80,110,95\n"
    assert outcome("North had the highest Q2", text, "en") == "confirmed"
    assert outcome("South had the highest Q2", text, "en") == "refuted"
    assert outcome("In Q2, South was the highest", text, "en") != "confirmed"
    assert outcome("South grew by 60% from Q1 to Q3", text, "en") == "confirmed"


@pytest.mark.parametrize(
    ("claim", "is_"),
    [
        ("The three plans together cost € 57 a month", "confirmed"),
        ("The three plans together cost € 67 a month", "refuted"),
        ("The Team plan costs € 10 more than Basic", "confirmed"),
        ("A plan costs € 19 a month on average", "confirmed"),
        ("A plan costs € 228 a year on average", "data"),
    ],
)
def test_prices_a_month_are_computed_with_where_a_claim_is_of_a_month_too(claim, is_):
    plans = (
        "# Plans\n\n- Basic: € 9 per month\n- Team: € 19 per month\n- Business: € 29 per month\n\nAsk us.\n"
    )
    found = checked(claim, plans, "en")
    assert (found.obstacle or found.outcome).value == is_


def test_two_documents_that_do_not_agree_refute_nothing():
    other = NL.replace("2024", "2023").replace("1.350", "1.650")
    claim = "De totale omzet was € 4.350."
    assert outcome(claim, (NL, other), "nl") == "several_data"
    assert outcome("De totale omzet in 2024 was € 4.350.", (NL, other), "nl") == "refuted"
    assert outcome("De totale omzet in 2023 was € 4.350.", (NL, other), "nl") == "confirmed"


def test_a_document_that_comes_twice_is_as_good_as_one():
    assert outcome("De totale omzet was € 4.350.", (NL, NL), "nl") == "refuted"


def test_rows_named_right_before_may_be_meant_still():
    claim = "In totaal was de omzet € 2.710."
    assert outcome(claim, NL, "nl") == "refuted"
    assert outcome(claim, NL, "nl", before="We kijken naar januari en februari.") == "rows"


def test_data_that_do_not_agree_with_their_own_total_refute_nothing():
    table = NL + "| Totaal | € 4.350 | € 2.400,50 | 145 |\n"
    assert outcome("De totale omzet was € 4.350.", table, "nl") == "cells"
    assert outcome("De totale kosten waren € 2.400,50.", table, "nl") == "confirmed"


def test_cells_without_a_figure_refute_nothing():
    table = NL.replace("€ 1.350", "n.n.b.")
    assert outcome("De totale omzet was € 4.350.", table, "nl") == "cells"


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("Omzet\n\n" + NL, "rows"),
        ("Omzet\n\n" + NL + "\nZie ook de kosten.", "refuted"),
        ("Omzet\n\n- Noord: € 10\n- Zuid: € 20\n\nKlaar.", "rows"),
        ("# Omzet\n\nPer regio:\n\n- Noord: € 10\n- Zuid: € 20\n\nKlaar.", "refuted"),
    ],
)
def test_a_table_at_the_edge_of_a_passage_may_have_been_cut(text, total):
    passage = replace(source(text, "nl"), is_whole=False)
    found = check_clause("De totale omzet was € 4.350.", 0, LEXICONS["nl"], [passage])
    assert (found and (found.obstacle or found.outcome).value) == total
    assert outcome("De totale omzet was € 4.350.", text, "nl") == "refuted"


def test_examples_refute_nothing_about_all():
    text = "De omzet van enkele klanten, bijvoorbeeld:\n\n- Alfa: € 10\n- Beta: € 25\n"
    assert outcome("De totale omzet was € 99.", text, "nl") == "rows"
    assert outcome("De omzet van Alfa en Beta samen was € 99.", text, "nl") == "refuted"
