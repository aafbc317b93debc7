"""The claims of an answer and the windows of its documents that speak most of them.

Words are compared as the scorer compares them: by the stems of those that carry content. A stem weighs by how
few sentences of the documents have it.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from scoring.lexicon import Lexicon, load_shipped
from scoring.scorer.preparation import content_span
from scoring.text.characters import SENTENCE_OR_LINE_END
from scoring.text.prepared_text import folded_words
from training.packed import read_lines

Line = dict[str, Any]
LANGUAGES = ("nl", "en")
DEVELOPMENT = ("gimp", "debian-installation", "kmail", "skrooge")
VALIDATION = ("korganizer", "kate")

_FEWEST_STEMS = 2
_WINDOW_WORDS = 50
_LONGEST_UNIT = 80
# What the question says too tells which window is meant, but less than what the claim says.
_QUESTION = 0.3


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text by its character offsets, with the stems of its content."""

    start: int
    end: int
    text: str
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Window(Span):
    """Sentences of a document that follow each other."""

    document_id: str


@dataclass(frozen=True)
class Context:
    """The documents of an answer, cut to windows; ``weights`` are those of the stems in them."""

    windows: tuple[Window, ...]
    weights: Mapping[str, float]
    unseen: float

    def weight(self, stems: frozenset[str]) -> float:
        """Return what stems weigh together."""
        # Sums of floats depend on their order, which sets do not keep from run to run.
        return sum(self.weights.get(stem, self.unseen) for stem in sorted(stems))

    def share(self, stems: frozenset[str], found: frozenset[str]) -> float:
        """Return which share, by weight, of ``stems`` is among ``found``; 1 of none."""
        whole = self.weight(stems)
        return self.weight(stems & found) / whole if whole else 1.0

    def best(self, claim: frozenset[str], question: frozenset[str], count: int) -> list[Window]:
        """Return the windows that hold most of a claim, best first, none within another."""

        def worth(window: Window) -> float:
            asked = self.share(question - claim, window.stems) if question - claim else 0.0
            return self.share(claim, window.stems) + _QUESTION * asked

        chosen: list[Window] = []
        for window in sorted(self.windows, key=worth, reverse=True):
            if len(chosen) == count:
                break
            if not any(overlap(window, other) for other in chosen):
                chosen.append(window)
        return chosen


@cache
def lexicon(language: str) -> Lexicon:
    """Return the shipped lexicon of a language."""
    return load_shipped()[language]


def stems(text: str, language: str) -> frozenset[str]:
    """Return the stems of the words that carry content."""
    words = lexicon(language)
    return frozenset(words.stem(word) for word in folded_words(text) if word not in words.function_words)


def sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield where the sentences and lines of a text stand, without white space and those without a letter."""
    stop = len(text) if end is None else end
    bounds = [start, *(found.end() for found in SENTENCE_OR_LINE_END.finditer(text, start, stop)), stop]
    for left, right in pairwise(bounds):
        piece = text[left:right]
        if any(map(str.isalpha, piece)):
            yield left + len(piece) - len(piece.lstrip()), right - len(piece) + len(piece.rstrip())


def claims(answer: str, language: str) -> list[Span]:
    """Return the sentences of an answer that claim something.

    Not those of its greeting and closing, questions, and what has fewer than two words of content.
    """
    start, end = content_span(answer, lexicon(language))
    spans = (
        Span(left, right, answer[left:right], stems(answer[left:right], language))
        for left, right in sentences(answer, start, end)
    )
    return [span for span in spans if len(span.stems) >= _FEWEST_STEMS and not span.text.endswith("?")]


def context(documents: Sequence[Line], language: str) -> Context:
    """Cut documents to windows of about fifty words, one beginning at each sentence."""
    windows: list[Window] = []
    counts: Counter[str] = Counter()
    units = 0
    for document in documents:
        text = document["text"]
        spans = [_shortened(text, *span) for span in sentences(text)]
        found = [stems(text[start:end], language) for start, end in spans]
        counts.update(stem for stem_set in found for stem in stem_set)
        units += len(spans)
        for first, last in _runs([len(text[start:end].split()) for start, end in spans]):
            start, end = spans[first][0], spans[last][1]
            held = frozenset().union(*found[first : last + 1])
            windows.append(Window(start, end, text[start:end], held, document["document_id"]))
    weights = {stem: math.log((units + 1) / (count + 0.5)) for stem, count in counts.items()}
    return Context(tuple(windows), weights, math.log((units + 1) / 0.5))


def overlap(one: Window, other: Window) -> bool:
    """Say whether two windows share a sentence."""
    return one.document_id == other.document_id and one.start < other.end and other.start < one.end


def answers(folder: Path, products: Sequence[str], language: str) -> Iterator[tuple[Line, Context]]:
    """Yield the rated answers on products, each with its documents."""
    for product in products:
        documents = {line["document_id"]: line for line in lines(folder / "documents", product, language)}
        contexts: dict[tuple[str, ...], Context] = {}
        for line in lines(folder / "answers", product, language):
            ids = tuple(line["document_ids"])
            if ids not in contexts:
                contexts[ids] = context([documents[name] for name in ids], language)
            yield line, contexts[ids]


def lines(folder: Path, product: str, language: str) -> list[Line]:
    """Return the lines of a file of the corpus."""
    return read_lines(folder / f"{product}.{language}.jsonl.gz")


def _shortened(text: str, start: int, end: int) -> tuple[int, int]:
    words = list(re.finditer(r"\S+", text[start:end]))
    return (start, end) if len(words) <= _LONGEST_UNIT else (start, start + words[_LONGEST_UNIT - 1].end())


def _runs(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of the sentences that begin at each and have about fifty words together."""
    for first in range(len(sizes)):
        last, words = first, sizes[first]
        while last + 1 < len(sizes) and words + sizes[last + 1] <= _WINDOW_WORDS:
            last += 1
            words += sizes[last]
        yield first, last
