"""No pattern has what a Python that the project allows matches wrongly, and none needs it to be fast.

Before 3.11.5 possessive quantifiers around groups eat too much, and atomic groups miss what fits; they are
left out altogether, since no reader can tell by sight which of them are right.
"""

from __future__ import annotations

import ast
import re
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from re import _parser
from types import ModuleType

import pytest

import scoring
from scoring.company_terms import counting
from scoring.figures.reading import amounts, blocks, cells, labels
from scoring.judges.replies import reading
from scoring.judges.texts import cleaning, masking, shortening
from scoring.lexicon import PhraseList
from scoring.text import greeting, sentences
from scoring.text import prepared as text
from scoring.text.parsing import pieces
from scoring.translation import checks, splitting

_ROOT = Path(scoring.__file__).parents[1]
_FOLDERS = ("benchmarks", "schemas", "scoring", "streams", "tests", "training")
_POSSESSIVE_PART = re.compile(r"[*+?}]\+|\(\?>")
_LONG = 100_000


def is_refused(pattern: str) -> bool:
    """Say whether a pattern, or what may be a part of one, has such a construct."""
    try:
        with warnings.catch_warnings(action="ignore"):  # most texts are no patterns, and look odd as such
            read = repr(_parser.parse(pattern))
    except (re.error, OverflowError):
        return _POSSESSIVE_PART.search(pattern) is not None
    return "POSSESSIVE_REPEAT" in read or "ATOMIC_GROUP" in read


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of every text in a source; what an f-string puts in counts as a digit."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "1" for part in node.values)
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def refused(source: str) -> list[tuple[int, str]]:
    return [(line, found) for line, found in texts(source) if is_refused(found)]


@pytest.mark.parametrize(
    "source",
    [
        r'r"(?:a|b)*+"',
        r'r"(?:a)?+"',
        r'r"[ab]++"',
        r'r"a{2}+"',
        r'r"(b(?>a+)c)"',
        'A + "*+"',
        'rf"{A}++"',
        'rf"(?:a){{0,{N}}}+"',
        '"(?:" + A + ")?+"',
    ],
)
def test_what_is_refused_is_found_also_where_a_pattern_is_put_together(source: str) -> None:
    assert refused(source)


def test_what_only_looks_like_it_is_not_refused() -> None:
    assert refused(r'(r"[*+]+", r"\++", r"\*+", rf"{A}+", r"\(\?>", "C+")') == []


@pytest.mark.parametrize("folder", _FOLDERS)
def test_no_pattern_has_a_possessive_quantifier_or_an_atomic_group(folder: str) -> None:
    files = [file for file in (_ROOT / folder).rglob("*.py") if file != Path(__file__)]
    assert files
    assert {str(file): found for file in files if (found := refused(file.read_text("utf-8")))} == {}


def test_no_form_of_a_phrase_becomes_such_a_pattern() -> None:
    forms = PhraseList(["a", "^a* *b *c* *", "^^* ... *a ... b*", "a ... b ...", "l'a ... * b"])
    assert not is_refused(forms._pattern.pattern)


def patterns_of(module: ModuleType) -> list[re.Pattern[str]]:
    return [value for value in vars(module).values() if isinstance(value, re.Pattern)]


@pytest.mark.parametrize(
    "unit", [*"1a.*'`#>-|\"(！ \n", "1.", "1'", "a'", "a.", '."', "...a", ">a", "##a", "**a"]
)
def test_no_text_makes_a_search_go_back_over_what_it_has_read(unit: str) -> None:
    hostile = (unit * _LONG)[:_LONG] + "x"
    judges = (cleaning, masking, reading, shortening)
    figures = (amounts, blocks, cells, labels)
    modules = (greeting, sentences, text, counting, pieces, checks, splitting, *judges, *figures)
    for pattern in [pattern for module in modules for pattern in patterns_of(module)]:
        began = time.process_time()
        found = sum(1 for _ in pattern.finditer(hostile))
        # A linear search takes a tenth of this at most; one that goes back over a run takes longer.
        assert time.process_time() - began < 1, (pattern, found)


@pytest.mark.parametrize("unit", ["a ", "a b ", "aa" * 50 + " ", "a" * 5_000 + " "])
def test_no_words_make_the_search_for_phrases_go_back_over_them(unit: str) -> None:
    gaps = PhraseList(["a ... b ... c", "* ... *b ... c*", "a ... b ..."])
    words = (unit * _LONG)[:_LONG].split()
    began = time.process_time()
    list(gaps.find(words, range(0, len(words), 7)))
    assert time.process_time() - began < 5
