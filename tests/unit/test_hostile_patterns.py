"""No text makes a regular expression of the project take more time than its length is worth.

Every pattern is looked at as it stands, and tried on texts that are made from it.
"""

import re
import time
import warnings

import pytest

from scoring.judges.masking import find_words
from scoring.lexicon import PhraseList
from tests.support.hostile_texts import ENDS, hostile_units
from tests.support.own_patterns import ROOT, Found, compiled_at_import, within_functions

with warnings.catch_warnings(action="ignore"):  # it uses what Python has under another name by now
    from regexploit.ast.sre import SreOpParser
    from regexploit.redos import find as weaknesses

#: What doubles with every character shows before the first thousand, and what grows with the square after.
LENGTHS = (20, 24, 26, 1_000, 8_000, 30_000)
#: A linear search takes a fifth of this at most.
SECONDS = 0.25

#: Where only whole texts are matched, which an operator gives; a search would start anew at every place.
WHOLE_TEXTS = {"streams/settings/settings_base.py", "streams/settings/settings_loader.py"}
#: Where patterns are made of other texts, and which test tries them.
MADE_OF_TEXTS = {
    "scoring/figures/quantities.py": "a sign of ours, tried by the tests of figures",
    "scoring/figures/times.py": "names in a lexicon, tried by the tests of figures",
    "scoring/figures/number_readings.py": "number words of a lexicon, each repetition of which is bounded",
    "scoring/judges/replies.py": "the name of a field of ours",
    "scoring/judges/masking.py": "test_no_words_of_a_model_make_the_search_for_them_slow",
    "scoring/lexicon/phrases.py": "test_no_words_make_the_search_for_phrases_go_back_over_them",
    "scoring/lexicon/lexicon_reader.py": "names in a lexicon, looked for in one of its lines",
    "streams/search/relevance.py": "a name of the question, escaped",
}


def slowest(pattern: re.Pattern[str], *, whole: bool = False) -> tuple[float, str]:
    """Give the longest that a pattern takes for a text, up to where that is too long, and for which."""
    worst = (0.0, "nothing")
    for begin, unit in sorted(hostile_units(pattern)):
        for end in ENDS:
            for length in LENGTHS:
                text = (begin + unit * (length // len(unit) + 1))[:length] + end
                began = time.process_time()
                _ = pattern.fullmatch(text) if whole else sum(1 for _ in pattern.finditer(text))
                took = time.process_time() - began
                worst = max(worst, (took, f"{begin!r} + {unit!r} to {length} characters + {end!r}"))
                if took > SECONDS:
                    return worst
    return worst


@pytest.fixture(scope="module")
def patterns() -> list[Found]:
    """Give all patterns; of those that are made of the words of lexicons one a place."""
    written, _ = within_functions()
    found = [*compiled_at_import(), *written]
    words = {(each.file, each.line): each for each in found if each.file in MADE_OF_TEXTS}
    return [*(each for each in found if each.file not in MADE_OF_TEXTS), *words.values()]


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(\w+\s?)*!", r"a*a*a*b"])
def test_a_bad_pattern_is_seen_by_its_form(pattern: str) -> None:
    assert list(weaknesses(SreOpParser().parse_sre(pattern, 0)))


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|a)*b", r"\s+$", r"\w+@", r"([^\W\d_]+):?\Z"])
def test_a_bad_pattern_is_seen_by_its_time(pattern: str) -> None:
    assert slowest(re.compile(pattern))[0] > SECONDS


def test_all_patterns_are_found(patterns: list[Found]) -> None:
    files = {each.file for each in patterns}
    assert len(patterns) >= 90
    assert {"schemas/jsonl.py", "scoring/text/spans.py", "scoring/features/error_mismatch.py"} <= files
    assert {"streams/kafka/oauth.py", "streams/llm/endpoints/faults.py"} <= files


def test_only_known_places_make_patterns_of_other_texts() -> None:
    assert within_functions()[1] == set(MADE_OF_TEXTS)
    own_tests = [name for name in MADE_OF_TEXTS.values() if name.startswith("test_")]
    assert all(name in globals() for name in own_tests)


def test_no_pattern_has_a_form_that_goes_back_over_and_over(patterns: list[Found]) -> None:
    bad = [each for each in patterns if list(weaknesses(SreOpParser().parse_sre(each.pattern, each.flags)))]
    assert bad == []


def test_no_text_makes_a_pattern_slow(patterns: list[Found]) -> None:
    taken = [(str(each), *slowest(each.compiled, whole=each.file in WHOLE_TEXTS)) for each in patterns]
    assert [each for each in taken if each[1] > SECONDS] == []


@pytest.mark.parametrize("file", sorted(WHOLE_TEXTS))
def test_where_whole_texts_are_matched_nothing_is_searched(file: str) -> None:
    assert not re.search(r"\.(search|finditer|findall|subn?)\(", (ROOT / file).read_text("utf-8"))


@pytest.mark.parametrize("answer", ["a ", "a" + " " * 500, "a a b "])
def test_no_words_of_a_model_make_the_search_for_them_slow(answer: str) -> None:
    began = time.process_time()
    assert find_words("a " * 499 + "c", answer * (24_000 // len(answer))) is None
    assert time.process_time() - began < 1


@pytest.mark.parametrize("unit", ["a ", "a b ", "aa" * 50 + " ", "a" * 5_000 + " "])
def test_no_words_make_the_search_for_phrases_go_back_over_them(unit: str) -> None:
    gaps = PhraseList(["a ... b ... c", "* ... *b ... c*", "a ... b ..."])
    words = (unit * 100_000)[:100_000].split()
    began = time.process_time()
    list(gaps.find(words, range(0, len(words), 7)))
    assert time.process_time() - began < 5
