"""The words of a passage that a question asks about are marked where they stand."""

from hypothesis import given
from hypothesis import strategies as st

from scoring.lexicon import load_shipped
from streams.retrieval.highlights import Highlighter

HIGHLIGHTER = Highlighter(load_shipped())


def marked(question: str, passage: str, language: str) -> list[str]:
    return [passage[start:end] for start, end in HIGHLIGHTER.places(question, passage, language)]


def test_words_are_found_in_other_forms_and_function_words_are_not() -> None:
    assert marked("Hoe verstuur ik de facturen?", "De factuur versturen", "nl") == ["factuur", "versturen"]
    assert marked("How do I send the invoices?", "The invoice is sending", "en") == ["invoice", "sending"]


def test_a_language_without_a_lexicon_has_its_stemmer_and_short_words_left_out() -> None:
    assert marked("Wie geht das mit Rechnungen?", "Rechnung und so, mit Rest", "de") == ["Rechnung", "mit"]
    assert marked("il tlhIngan Hol", "tlhIngan il", "tlh") == ["tlhIngan"]


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["nl", "en", "de", "xx", ""]))
def test_places_are_in_order_apart_and_inside_whatever_the_texts(
    question: str, passage: str, language: str
) -> None:
    places = HIGHLIGHTER.places(question, passage, language)
    flat = [offset for place in places for offset in place]
    assert flat == sorted(flat)
    assert all(0 <= start < end <= len(passage) for start, end in places)
