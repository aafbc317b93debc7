"""Documents are split into overlapping chunks, and words are compared by their stems."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from streams.search.passages import Chunk, matching_spans, split_into_chunks, stemmed_terms

TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=600)
SENTENCES = "Open the menu. Choose a colour. Then wait until it has changed. " * 60


@given(TEXTS, st.integers(16, 80), st.integers(0, 15))
def test_chunks_are_pieces_of_the_text_in_order_and_leave_out_only_white_space(text, characters, overlap):
    chunks = split_into_chunks(text, characters, overlap)
    assert chunks
    covered: set[int] = set()
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert len(chunk.text) <= characters
        covered.update(range(chunk.start, chunk.end))
    assert [c.start for c in chunks] == sorted({c.start for c in chunks})
    assert all(place in covered or character.isspace() for place, character in enumerate(text))


def test_a_short_document_is_one_chunk():
    assert [chunk.text for chunk in split_into_chunks("Short.", 1024, 512)] == ["Short."]
    assert len(split_into_chunks("", 1024, 512)) == 1


def test_chunks_end_at_the_ends_of_sentences_and_overlap():
    chunks = split_into_chunks(SENTENCES, 1024, 512)
    assert all(chunk.text.endswith(".") and chunk.text[0].isupper() for chunk in chunks)
    pairs = list(itertools.pairwise(chunks))
    assert all(256 <= former.end - later.start <= 512 for former, later in pairs)


def test_half_a_character_is_replaced_and_moves_no_offset():
    assert split_into_chunks("a \ud800 b", 1024, 512)[0].text == "a \ufffd b"


def test_a_long_document_of_nothing_but_white_space_is_one_empty_chunk():
    assert split_into_chunks(" \n" * 2_000, 1024, 512) == (Chunk("", 0, 0),)


def test_a_document_exactly_as_long_as_a_chunk_is_one_with_its_white_space():
    assert split_into_chunks(" " * 1024, 1024, 512) == (Chunk(" " * 1024, 0, 1024),)


def marked(question: str, passage: str, language: str) -> list[str]:
    return [passage[start:end] for start, end in matching_spans(question, passage, language)]


def test_words_are_found_in_other_forms_and_function_words_are_not():
    assert marked("Hoe verstuur ik de facturen?", "De factuur versturen", "nl") == ["factuur", "versturen"]
    assert marked("How do I send the invoices?", "The invoice is sending", "en") == ["invoice", "sending"]


def test_a_language_without_a_lexicon_has_its_stemmer_and_a_list_of_words_left_out():
    assert marked("Wie geht das mit Rechnungen?", "Rechnung und so, mit Rest", "de") == ["Rechnung"]
    assert marked("Huoneiden tilaus", "huone", "fi") == ["huone"]
    assert marked("il tlhIngan Hol", "TLHINGAN", "tlh") == ["TLHINGAN"]


def test_marks_on_letters_and_half_characters_make_no_difference_to_the_rest():
    assert stemmed_terms("Één café \ud800 menu", "nl")[-1:] == stemmed_terms("menu", "nl")
    assert marked("cafe", "Café", "xx") == ["Café"]


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["nl", "en", "de", "xx", ""]))
def test_places_are_in_order_apart_and_inside_whatever_the_texts(question, passage, language):
    found = matching_spans(question, passage, language)
    flat = [offset for place in found for offset in place]
    assert flat == sorted(flat)
    assert all(0 <= start < end <= len(passage) for start, end in found)
