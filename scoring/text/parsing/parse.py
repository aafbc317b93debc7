"""A parsed text as columns, and how spaCy's documents become one.

Marks of Markdown and HTML are left out, a list item or heading is a piece of its own, and every
character of a piece knows its place in the original.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from sys import intern
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from scoring.lexicon import Lexicon
from scoring.text.characters import SENTENCE_END, ends_with_stop

if TYPE_CHECKING:
    from spacy.tokens import Doc

IntArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]
#: Parts of speech (Universal Dependencies) of what is no word.
NON_WORD_POS = frozenset({"PUNCT", "SYM", "SPACE"})

Column = TypeVar("Column", IntArray, BoolArray)


@dataclass(frozen=True, slots=True, eq=False)
class Parse:
    """The tokens of a text, one column an attribute, all of the same length; white space is no token.

    - ``text``, ``lemma``: folded for comparing; a lemma is the text where the pipeline has none.
    - ``pos``, ``dep``: part of speech and relation to the head, in the terms of Universal Dependencies.
      A pipeline with labels of its own keeps its own structure: in "it is free" spaCy's English head is
      "is", the Dutch one is "free".
    - ``head``: the index of the head; a root is its own.
    - ``start``, ``end``: character offsets into the original text.
    - ``is_stop``: whether the word carries no content by the language's lexicon. A negation does.

    A parse is a fraction of the size of the spaCy document it was made from, which is not kept.
    """

    text: tuple[str, ...]
    lemma: tuple[str, ...]
    pos: tuple[str, ...]
    dep: tuple[str, ...]
    head: IntArray
    start: IntArray
    end: IntArray
    is_stop: BoolArray

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.text)

    def indices(self, start: int, end: int) -> range:
        """Return the indices of the tokens that begin in ``[start, end)`` (character offsets)."""
        return range(bisect_left(self.start, start), bisect_left(self.start, end))

    def part(self, start: int, end: int) -> Parse:
        """Return the tokens that begin in ``[start, end)``; whose head is outside becomes a root."""
        kept = self.indices(start, end)
        if len(kept) == len(self):
            return self
        chosen = slice(kept.start, kept.stop)
        columns = {column.name: getattr(self, column.name)[chosen] for column in fields(self)}
        own = np.arange(len(kept), dtype=np.int32)
        head = columns["head"] - np.int32(kept.start)
        columns["head"] = read_only(np.where((head >= 0) & (head < len(kept)), head, own))
        return Parse(**columns)


def read_only(column: Column) -> Column:
    """Return the column, from now on read-only."""
    column.flags.writeable = False
    return column


#: What stands beyond either limit is not parsed: no help page or answer is that long. The tokens are what
#: takes time, about a second and a half for so many.
MAX_CHARACTERS = 100_000
MAX_TOKENS = 10_000
# A piece costs as much as so many tokens, however short it is.
_TOKENS_PER_CHUNK = 8
# No language has longer words; a tokenizer takes quadratic time over them.
_LONGEST_WORD = 100
# Bounds what the parser holds in memory at once. Sentences are shorter.
_MAX_CHUNK_CHARACTERS = 1_000
# A line that is at least so long and ends in no stop goes on in the next one.
_WRAPPED_LINE = 60

_MARKUP = re.compile(
    r"(?:^|(?<=\n))[ \t]{0,20}(?:#{1,6}[ \t]|>[ \t]?|[-+*•–][ \t]|(?:\*\*)?\d{1,3}[.)](?:\*\*)?[ \t])"
    r"|\*+|`+|~~|__"
    r"|</?[A-Za-z][^<>\n]{0,100}>"
    r"|!?\[(?=[^\[\]\n]{1,200}\]\()|\]\([^()\s]{0,300}\)"
)
_DROPPED = "\0"
_TOKEN = re.compile(r"\w+|[^\w\s]")
_STRETCH = re.compile(r"(?P<space>\s+)|[^\s\0]+")


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Running text; character ``n`` of ``text`` stands at ``places[n]`` of the original."""

    text: str
    offsets: IntArray


def text_chunks(original: str) -> Iterator[TextChunk]:
    """Yield the pieces of a text, in order and as far as it is parsed; none is blank."""
    cleaned = _MARKUP.sub(lambda mark: _DROPPED * len(mark.group()), original[:MAX_CHARACTERS])
    tokens = 0
    for start, end in _blocks(cleaned):
        for piece in _split_chunk(_running_text(cleaned, start, end)):
            tokens += len(_TOKEN.findall(piece.text)) + _TOKENS_PER_CHUNK
            if tokens > MAX_TOKENS:
                return
            yield piece


def _blocks(cleaned: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of every line, joined with those that go on with its sentence."""
    start, end = 0, -1
    previous = ""
    for line in cleaned.split("\n"):
        begin = end + 1
        if not _continues_line(previous, line):
            yield start, max(end, 0)
            start = begin
        end = begin + len(line)
        previous = line
    yield start, end


def _continues_line(previous: str, line: str) -> bool:
    before = previous.rstrip()
    if (
        not before
        or not line.strip(" \t\r\0")
        or line.startswith(_DROPPED)
        or ends_with_stop(before, extra_signs=":;|")
    ):
        return False
    return len(before) >= _WRAPPED_LINE or line.lstrip()[:1].islower()


def _running_text(cleaned: str, start: int, end: int) -> TextChunk:
    """Drop the marks, and leave one space of every run of white space."""
    kept: list[str] = []
    places: list[range] = []
    for match in _STRETCH.finditer(cleaned, start, end):
        first, last = match.span()
        if match["space"] is None:
            last = min(last, first + _LONGEST_WORD)
            kept.append(cleaned[first:last])
            places.append(range(first, last))
        elif kept and kept[-1] != " ":
            kept.append(" ")
            places.append(range(first, first + 1))
    return TextChunk(
        "".join(kept).rstrip(), np.array([place for run in places for place in run], dtype=np.int32)
    )


def _split_chunk(chunk: TextChunk) -> Iterator[TextChunk]:
    text, start = chunk.text, 0
    while start < len(text):
        end = _split_point(text, start)
        yield TextChunk(text[start:end], chunk.offsets[start:end])
        start = end + text.startswith(" ", end)


def _split_point(text: str, start: int) -> int:
    limit = start + _MAX_CHUNK_CHARACTERS
    if limit >= len(text):
        return len(text)
    # One further, since what is not looked at is an end too.
    ends = [match.end() for match in SENTENCE_END.finditer(text, start, limit + 1) if match.end() <= limit]
    if ends:
        return ends[-1]
    space = text.rfind(" ", start + 1, limit)
    return limit if space < 0 else space


# The English pipelines name the relations by the older ClearNLP scheme.
_UNIVERSAL = {
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
    "dobj": "obj",
    "dative": "iobj",
    "neg": "advmod",
    "ROOT": "root",
}

# Universal Dependencies: the particle of a separable verb. English pipelines call theirs "prt".
_PARTICLE = "compound:prt"


class ParseBuilder:
    """Collects the tokens of one text, piece by piece."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._texts: list[str] = []
        self._lemmas: list[str] = []
        self._pos: list[str] = []
        self._dep: list[str] = []
        self._heads: list[int] = []
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, doc: Doc, chunk: TextChunk) -> None:
        """Add the tokens of a parsed piece."""
        places, first = chunk.offsets.tolist(), len(self._texts)
        for token in doc:
            text = _folded(token.text)
            self._texts.append(text)
            self._lemmas.append(_folded(token.lemma_) or text)
            self._pos.append(intern(token.pos_))
            self._dep.append(intern(_UNIVERSAL.get(token.dep_, token.dep_)))
            self._heads.append(first + token.head.i)
            self._starts.append(places[token.idx])
            self._ends.append(places[token.idx + len(token) - 1] + 1)

    def build(self) -> Parse:
        """Return what was collected."""
        self._join_particles()
        return Parse(
            text=tuple(self._texts),
            lemma=tuple(self._lemmas),
            pos=tuple(self._pos),
            dep=tuple(self._dep),
            head=read_only(np.array(self._heads, dtype=np.int32)),
            start=read_only(np.array(self._starts, dtype=np.int32)),
            end=read_only(np.array(self._ends, dtype=np.int32)),
            is_stop=stop_flags(self._lemmas, self._lexicon),
        )

    def _join_particles(self) -> None:
        """Give "vul ... in" the lemma of "ingevuld", where it is one word: "invullen"."""
        joined = set()
        for place, dep in enumerate(self._dep):
            head = self._heads[place]
            # One particle a verb: a parser that errs may hang many on one.
            if dep == _PARTICLE and self._pos[head] == "VERB" and head not in joined:
                joined.add(head)
                self._lemmas[head] = intern(self._texts[place] + self._lemmas[head])


def stop_flags(lemmas: Sequence[str], lexicon: Lexicon) -> BoolArray:
    """Return for each lemma whether it carries no content by the lexicon; a negation does."""
    stops = lexicon.function_words - lexicon.negations
    return read_only(np.array([lemma in stops for lemma in lemmas], dtype=np.bool_))


def _folded(text: str) -> str:
    return intern(text.casefold().replace("’", "'"))
