"""An answer in the company's own words is told from one in general terms."""

from dataclasses import replace

import pytest

from scoring.features.answer_words import FULL_TERM_SHARE, CompanySpecificTerms
from scoring.text.spans import MAX_EVIDENCE
from tests.unit.scoring.scoring_support import kinds, material, prepared

TERMS = frozenset({"payslip", "payroll", "kantora", "tab"})


def measured(answer, terms=TERMS, language="en"):
    return CompanySpecificTerms().measure(replace(material(answer, language=language), company_terms=terms))


def test_an_answer_in_general_terms_has_none():
    value = measured("It depends on your situation, so ask a good colleague for more advice.")
    assert value.value == 0
    assert value.evidence == ()


def test_an_answer_in_the_words_of_the_documents_has_all():
    value = measured("Open the Payroll tab and download the payslip of that month.")
    assert value.value == 1
    assert kinds(value) == [("company_term", "Payroll"), ("company_term", "tab"), ("company_term", "payslip")]


def test_a_few_terms_among_many_general_words_are_in_between():
    words = "green house water stone forest river cloud window bridge garden"
    assert measured(f"payslip {words}").value == pytest.approx(1 / 11 / FULL_TERM_SHARE)


def test_repeating_a_term_or_adding_small_words_and_numbers_changes_nothing():
    once = measured("payslip green house water stone forest river cloud window bridge garden")
    more = measured(
        "The payslip, green house 12 x 2026: water stone forest river cloud window bridge garden. PAYSLIP"
    )
    assert more.value == once.value
    assert kinds(more) == [("company_term", "payslip")]


@pytest.mark.parametrize(
    ("answer", "terms"),
    [("Open the payslip.", None), ("Open the payslip.", frozenset()), ("", TERMS), ("12 of 3", TERMS)],
)
def test_without_terms_or_content_there_is_nothing_to_measure(answer, terms):
    assert measured(answer, terms).value is None


def test_what_is_cut_off_as_a_greeting_does_not_count():
    answer = "Hi Kantora, ask a good colleague."
    texts = material(answer)
    texts = replace(
        texts, answer=prepared(answer).part(len("Hi Kantora, "), len(answer)), company_terms=TERMS
    )
    assert CompanySpecificTerms().measure(texts).value == 0


def test_evidence_is_bounded():
    terms = frozenset(f"{'abcdefghij'[n // 10]}{'abcdefghij'[n % 10]}term" for n in range(100))
    assert len(measured(" ".join(terms), terms).evidence) == MAX_EVIDENCE
