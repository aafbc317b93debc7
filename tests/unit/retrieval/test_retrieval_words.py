"""Words are compared by their stems, and those that a question asks about are found where they stand."""

from hypothesis import given
from hypothesis import strategies as st

from streams.search.passages import matching_spans, stemmed_terms


def marked(question: str, passage: str, language: str) -> list[str]:
    return [passage[start:end] for start, end in matching_spans(question, passage, language)]


def test_words_are_found_in_other_forms_and_function_words_are_not() -> None:
    assert marked("Hoe verstuur ik de facturen?", "De factuur versturen", "nl") == ["factuur", "versturen"]
    assert marked("How do I send the invoices?", "The invoice is sending", "en") == ["invoice", "sending"]


def test_a_language_without_a_lexicon_has_its_stemmer_and_a_list_of_words_left_out() -> None:
    assert marked("Wie geht das mit Rechnungen?", "Rechnung und so, mit Rest", "de") == ["Rechnung"]
    assert marked("Huoneiden tilaus", "huone", "fi") == ["huone"]
    assert marked("il tlhIngan Hol", "TLHINGAN", "tlh") == ["TLHINGAN"]


def test_marks_on_letters_and_half_characters_make_no_difference_to_the_rest() -> None:
    assert stemmed_terms("Één café \ud800 menu", "nl")[-1:] == stemmed_terms("menu", "nl")
    assert marked("cafe", "Café", "xx") == ["Café"]


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["nl", "en", "de", "xx", ""]))
def test_places_are_in_order_apart_and_inside_whatever_the_texts(
    question: str, passage: str, language: str
) -> None:
    found = matching_spans(question, passage, language)
    flat = [offset for place in found for offset in place]
    assert flat == sorted(flat)
    assert all(0 <= start < end <= len(passage) for start, end in found)
