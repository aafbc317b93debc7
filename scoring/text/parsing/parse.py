"""A parsed text as columns, and how it is built from spaCy's documents.

Markdown and HTML markup is dropped, a list item or heading is a chunk of its own, and every character of a
chunk keeps its offset in the original.
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
#: Parts of speech (Universal Dependencies) of tokens that are not words.
NON_WORD_POS = frozenset({"PUNCT", "SYM", "SPACE"})

Column = TypeVar("Column", IntArray, BoolArray)


@dataclass(frozen=True, slots=True, eq=False)
class Parse:
    """The tokens of a text, without white space: one column per attribute, all of the same length.

    - ``text``, ``lemma``: folded; the lemma is the text where the pipeline has none.
    - ``pos``, ``dep``: part of speech and relation to the head, as labelled by Universal Dependencies. The
      structure is the pipeline's own: in "it is free" the head is "is" in English and "free" in Dutch.
    - ``head``: the index of the head; a root is its own head.
    - ``start``, ``end``: character offsets into the original text.
    - ``is_stop``: whether the lexicon lists the word as without content. A negation has content.

    It is a fraction of the size of the spaCy document, which is not kept.
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
        """Return the indices of the tokens that start in ``[start, end)`` (character offsets)."""
        return range(bisect_left(self.start, start), bisect_left(self.start, end))

    def part(self, start: int, end: int) -> Parse:
        """Return the tokens that start in ``[start, end)``; a token with its head outside becomes a root."""
        kept = self.indices(start, end)
        if len(kept) == len(self):
            return self
        columns = {column.name: getattr(self, column.name)[kept.start : kept.stop] for column in fields(self)}
        head = columns["head"] - np.int32(kept.start)
        own = np.arange(len(kept), dtype=np.int32)
        columns["head"] = read_only(np.where((head >= 0) & (head < len(kept)), head, own))
        return Parse(**columns)


def read_only(column: Column) -> Column:
    """Make a column read-only and return it."""
    column.flags.writeable = False
    return column


#: Text beyond either limit is not parsed: no help page or answer is that long. Parsing time grows with the
#: tokens: about a second and a half for so many.
MAX_CHARACTERS = 100_000
MAX_TOKENS = 10_000
# The overhead of a chunk, in tokens.
_TOKENS_PER_CHUNK = 8
# No language has longer words, and tokenizers need quadratic time for them.
_MAX_WORD_CHARACTERS = 100
# Bounds the parser's memory. Sentences are shorter.
_MAX_CHUNK_CHARACTERS = 1_000
# A line of at least this length without a final stop continues in the next one.
_MIN_WRAPPED_LINE = 60

_MARKUP = re.compile(
    r"(?:^|(?<=\n))[ \t]{0,20}(?:#{1,6}[ \t]|>[ \t]?|[-+*•–][ \t]|(?:\*\*)?\d{1,3}[.)](?:\*\*)?[ \t])"
    r"|\*+|`+|~~|__"
    r"|</?[A-Za-z][^<>\n]{0,100}>"
    r"|!?\[(?=[^\[\]\n]{1,200}\]\()|\]\([^()\s]{0,300}\)"
)
_DROPPED_MARKUP = "\0"
_TOKEN = re.compile(r"\w+|[^\w\s]")
_RUN = re.compile(r"(?P<space>\s+)|[^\s\0]+")


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Running text; character ``n`` of ``text`` is at ``offsets[n]`` of the original."""

    text: str
    offsets: IntArray


def text_chunks(original: str) -> Iterator[TextChunk]:
    """Yield the non-blank chunks of a text in order, up to the limits."""
    cleaned = _MARKUP.sub(lambda mark: _DROPPED_MARKUP * len(mark.group()), original[:MAX_CHARACTERS])
    tokens = 0
    for start, end in _blocks(cleaned):
        for chunk in _split_chunk(_running_text(cleaned, start, end)):
            tokens += len(_TOKEN.findall(chunk.text)) + _TOKENS_PER_CHUNK
            if tokens > MAX_TOKENS:
                return
            yield chunk


def _blocks(cleaned: str) -> Iterator[tuple[int, int]]:
    """Yield the span of every line, joined with the lines that continue its sentence."""
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
    if not before or not line.strip(" \t\r\0") or line.startswith(_DROPPED_MARKUP):
        return False
    if ends_with_stop(before, extra_signs=":;|"):
        return False
    return len(before) >= _MIN_WRAPPED_LINE or line.lstrip()[:1].islower()


def _running_text(cleaned: str, start: int, end: int) -> TextChunk:
    """Drop the markup, and reduce every run of white space to one space."""
    parts: list[str] = []
    offsets: list[int] = []
    for match in _RUN.finditer(cleaned, start, end):
        first, last = match.span()
        if match["space"] is None:
            last = min(last, first + _MAX_WORD_CHARACTERS)
            parts.append(cleaned[first:last])
            offsets.extend(range(first, last))
        elif parts and parts[-1] != " ":
            parts.append(" ")
            offsets.append(first)
    return TextChunk("".join(parts).rstrip(), np.array(offsets, dtype=np.int32))


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
    # One character more, since the end of the searched region would match as the end of the text.
    ends = [match.end() for match in SENTENCE_END.finditer(text, start, limit + 1) if match.end() <= limit]
    if ends:
        return ends[-1]
    space = text.rfind(" ", start + 1, limit)
    return limit if space < 0 else space


# The English pipelines label relations by the older ClearNLP scheme.
_UNIVERSAL = {
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
    "dobj": "obj",
    "dative": "iobj",
    "neg": "advmod",
    "ROOT": "root",
}

# The particle of a separable verb in Universal Dependencies. English pipelines label theirs "prt".
_PARTICLE = "compound:prt"


class ParseBuilder:
    """Collects the tokens of one text, chunk by chunk."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._rows: list[tuple[str, str, str, str, int, int, int]] = []

    def add(self, doc: Doc, chunk: TextChunk) -> None:
        """Add the tokens of a parsed chunk."""
        offsets, first = chunk.offsets.tolist(), len(self._rows)
        for token in doc:
            text = _folded(token.text)
            self._rows.append(
                (
                    text,
                    _folded(token.lemma_) or text,
                    intern(token.pos_),
                    intern(_UNIVERSAL.get(token.dep_, token.dep_)),
                    first + token.head.i,
                    offsets[token.idx],
                    offsets[token.idx + len(token) - 1] + 1,
                )
            )

    def build(self) -> Parse:
        """Return the parse of the added chunks."""
        text, lemma, pos, dep, *numbers = zip(*self._rows, strict=True) if self._rows else ((),) * 7
        head, start, end = (read_only(np.array(column, dtype=np.int32)) for column in numbers)
        lemmas, joined = list(lemma), set()
        for index, verb in enumerate(head.tolist()):
            # One particle per verb, since a wrong parse may attach many.
            if dep[index] == _PARTICLE and pos[verb] == "VERB" and verb not in joined:
                # "vul ... in" gets the lemma of "ingevuld": "invullen".
                joined.add(verb)
                lemmas[verb] = intern(text[index] + lemmas[verb])
        return Parse(text, tuple(lemmas), pos, dep, head, start, end, stop_flags(lemmas, self._lexicon))


def stop_flags(lemmas: Sequence[str], lexicon: Lexicon) -> BoolArray:
    """Return for each lemma whether the lexicon lists it as without content; negations have content."""
    stops = lexicon.function_words - lexicon.negations
    return read_only(np.array([lemma in stops for lemma in lemmas], dtype=np.bool_))


def _folded(text: str) -> str:
    return intern(text.casefold().replace("’", "'"))
