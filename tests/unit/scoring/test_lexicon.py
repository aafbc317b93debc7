from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.lexicon import LexiconError, PhraseList, load_lexicon, load_shipped

SHIPPED = Path(__file__).parents[3] / "scoring" / "lexicon"


def test_dutch_and_english_are_shipped_and_know_all_types_but_unspecified():
    for lexicon in load_shipped().values():
        kinds = {patterns.type for patterns in lexicon.message_types}
        assert kinds == {"action", "error", "instruction", "reasoning", "general", "binary"}
    assert set(load_shipped()) == {"nl", "en"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('language = "nl"', 'language = "en"', "nl.toml: line 3: language: 'en' is not the ISO 639-1 code"),
        ('language = "nl"', "language = 3", "nl.toml: line 3: language: is not a str"),
        (
            'if_question = "binary"',
            'if_question = "maybe"',
            "line 4: if_question: 'maybe' is not one of error",
        ),
        ('step_words = ["stap"]', "", "nl.toml: step_words is missing"),
        ('step_words = ["stap"]', 'step_words = ["Stap"]', "step_words: 'Stap' is not lowercase"),
        (
            'step_words = ["stap"]',
            'step_words = ["een stap"]',
            "step_words: 'een stap' is not one plain word",
        ),
        ('step_words = ["stap"]', 'step_words = ["stap", "stap"]', "step_words: 'stap' is listed twice"),
        ('step_words = ["stap"]', 'step_words = [""]', "step_words: '' is not a non-empty string"),
        ('step_words = ["stap"]', "step_words = [1]", "step_words: 1 is not a non-empty string"),
        ('step_words = ["stap"]', 'step_word = ["stap"]', "step_word: is not a key of a lexicon"),
        ('"^schrijf"', '"schr^ijf"', "phrases: 'schr^ijf' is not lowercase words"),
        ('type = "action"', 'kind = "action"', "kind: is not a key of a lexicon"),
        ('language = "nl"', "language =", "nl.toml: Invalid value (at line 3"),
    ],
)
def test_a_wrong_lexicon_is_refused_with_file_line_key_and_reason(tmp_path, old, new, message):
    text = (SHIPPED / "nl.toml").read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "nl.toml"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(LexiconError) as refused:
        load_lexicon(file)
    assert message in str(refused.value)


def test_a_lexicon_that_is_not_there_or_not_text_is_refused(tmp_path):
    with pytest.raises(LexiconError, match=r"xx\.toml"):
        load_lexicon(tmp_path / "xx.toml")
    (tmp_path / "nl.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(LexiconError, match=r"nl\.toml"):
        load_lexicon(tmp_path / "nl.toml")


@pytest.mark.parametrize(
    ("phrase", "words", "hits"),
    [
        ("what is", ["so", "what", "is", "it"], [(1, 3)]),
        ("mail*", ["a", "mailtje"], [(1, 2)]),
        ("vat * samen", ["vat", "dit", "samen"], [(0, 3)]),
        ("^can", ["can", "i", "can"], [(0, 1)]),
        ("is", ["this"], []),
        ("what is", ["what", "isn't"], []),
    ],
)
def test_phrases_match_whole_words_endings_and_clause_starts(phrase, words, hits):
    assert list(PhraseList([phrase]).find(words, {0})) == hits


def test_no_phrase_matches_nothing():
    assert not PhraseList([]).occurs(["a"])


@given(st.lists(st.sampled_from(["a", "b", "ab"])), st.sets(st.integers(0, 8)))
def test_every_hit_is_a_range_of_words(words, starts):
    for first, last in PhraseList(["a b", "^ab", "b*"]).find(words, starts):
        assert 0 <= first < last <= len(words)
