import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.text.prepared_text import TextCache, clause_starts, split_words
from tests.unit.scoring.scoring_support import LEXICONS, prepared

EN, NL = LEXICONS["en"], LEXICONS["nl"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Click **Save**, now.", ["click", "save", "now"]),
        ("At most 1.000 of € 0,23 at 22.00.", ["at", "most", "1.000", "of", "0,23", "at", "22.00"]),
        ("HR-medewerker's foto’s", ["hr", "medewerker's", "foto's"]),
        ("snake_case _it_", ["snake", "case", "it"]),
        ("één GEÏMPORTEERD", ["één", "geïmporteerd"]),
        ("Of it 'overschreden' was, 1' 2", ["of", "it", "overschreden", "was", "1", "2"]),
        ("1.5. 12, 3'4'", ["1.5", "12", "3'4"]),
        ("", []),
    ],
)
def test_words_are_folded_and_numbers_stay_whole(text, words):
    assert [word.text for word in split_words(text)] == words


@given(st.text())
def test_every_word_is_at_its_place(text):
    previous = 0
    for word in split_words(text):
        assert previous <= word.start < word.end <= len(text)
        assert text[word.start : word.end].casefold().replace("’", "'") == word.text
        previous = word.end


@given(st.text(st.sampled_from("aé1'’.,: ")))
def test_words_hold_every_letter_and_digit_and_signs_only_between_them(text):
    covered = set()
    for word in split_words(text):
        assert word.text[0].isalnum()
        assert word.text[-1].isalnum()
        covered.update(range(word.start, word.end))
    assert {place for place, character in enumerate(text) if character.isalnum()} <= covered


@given(st.text())
def test_lines_cover_the_text(text):
    assert "\n".join(text[start:end] for start, end in prepared(text).lines()) == text


def test_a_clause_starts_after_a_stop_a_comma_or_a_line_end():
    text = prepared("Yes, it is. So\nwhat now")
    assert [text.word_texts[index] for index in sorted(clause_starts(text))] == ["yes", "it", "so", "what"]


def test_what_is_derived_is_computed_once():
    calls = []

    def count(text):
        calls.append(text)
        return len(text.words)

    text = prepared("one two")
    assert (text.cached(count), text.cached(count), len(calls)) == (2, 2, 1)


def test_the_same_content_is_prepared_once_a_language():
    cache = TextCache(100)
    first = cache.prepare("one two", EN)
    assert cache.prepare("one " + "two", EN) is first
    assert cache.prepare("one two", NL) is not first
    assert len(cache) == 2


def test_the_least_recently_used_text_is_dropped_when_there_are_too_many_characters():
    cache = TextCache(10)
    first, second = cache.prepare("aaaaa", EN), cache.prepare("bbbbb", EN)
    cache.prepare("aaaaa", EN)
    cache.prepare("ccccc", EN)
    assert cache.prepare("aaaaa", EN) is first
    assert cache.prepare("bbbbb", EN) is not second


def test_a_text_larger_than_the_cache_is_prepared_and_not_kept():
    cache = TextCache(3)
    assert cache.prepare("one two", EN).word_texts == ("one", "two")
    assert len(cache) == 0
