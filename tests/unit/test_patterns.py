"""No pattern has what a Python that the project allows matches wrongly.

Before 3.11.5 possessive quantifiers around groups eat too much, and atomic groups miss what fits; they are
left out altogether, since no reader can tell by sight which of them are right.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from re import _parser

import pytest

import scoring
from scoring.lexicon import PhraseList

_ROOT = Path(scoring.__file__).parents[1]
_FOLDERS = ("docs", "schemas", "scoring", "streams", "tests", "training")
_POSSESSIVE_PART = re.compile(r"[*+?}]\+|\(\?>")


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
def test_what_is_refused_is_found_also_where_a_pattern_is_put_together(source):
    assert refused(source)


def test_what_only_looks_like_it_is_not_refused():
    assert refused(r'(r"[*+]+", r"\++", r"\*+", rf"{A}+", r"\(\?>", "C+")') == []


@pytest.mark.parametrize("folder", _FOLDERS)
def test_no_pattern_has_a_possessive_quantifier_or_an_atomic_group(folder):
    files = [file for file in (_ROOT / folder).rglob("*.py") if file != Path(__file__)]
    assert files
    assert {str(file): found for file in files if (found := refused(file.read_text("utf-8")))} == {}


def test_no_form_of_a_phrase_becomes_such_a_pattern():
    forms = PhraseList(["a", "^a* *b *c* *", "^^* ... *a ... b*", "a ... b ...", "l'a ... * b"])
    assert not is_refused(forms._pattern.pattern)
