"""The sentences of a document, kept so that those which have the words of a claim are found at once."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice, takewhile

import numpy as np
from numpy.typing import NDArray

from scoring.claims.words import ContentWord, content_words
from scoring.text.prepared import PreparedText
from scoring.text.runs import run_span, sentence_runs

Levels = NDArray[np.float32]

# How much of a word another one is: of one root with it ("approve", "approval"), a compound that begins or
# ends with it ("factuur", "conceptfactuur"), or the other way round a part of it.
_SAME, _OF_ONE_ROOT, _COMPOUND, _PART = 1.0, 0.9, 0.8, 0.5
_ROOT = 5
_ALIKE_LENGTH = 0.7
_SHORTEST_PART = 4
_SHORTEST_COMPOUND = 8
_LONGEST_COMPOUND = 40
# So many words of one beginning are compared; a document that has more is no help text.
_MOST_ALIKE = 40


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """The sentences of a text: ``spans`` are their places, ``places`` tells in which of them a form stands.

    ``forms`` are the keys of ``places`` in order, ``endings`` the same reversed, in order too.
    """

    spans: tuple[tuple[int, int], ...]
    places: Mapping[str, NDArray[np.intp]]
    forms: tuple[str, ...]
    endings: tuple[str, ...]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the place of the sentences from one up to another."""
        return self.spans[first][0], self.spans[last][1]

    def levels(self, word: ContentWord) -> Levels:
        """Return for each sentence how far it has a word, in [0, 1]."""
        found = np.zeros(len(self.spans), dtype=np.float32)
        for form, level in self._alike(word):
            places = self.places[form]
            found[places] = np.maximum(found[places], level)
        return found

    def count(self, word: ContentWord) -> int:
        """Return how many sentences have the word itself."""
        return max((len(self.places[form]) for form in word.forms if form in self.places), default=0)

    def _alike(self, word: ContentWord) -> Iterator[tuple[str, float]]:
        for form in word.forms:
            yield from self._of_one_root(form)
            yield from self._compounds(form)
            yield from self._parts(form)
            if form in self.places:
                yield form, _SAME

    def _of_one_root(self, form: str) -> Iterator[tuple[str, float]]:
        if len(form) < _ROOT:
            return
        for other in _begins(form[:_ROOT], self.forms):
            shorter, longer = sorted((form, other), key=len)
            if longer.startswith(shorter) or len(shorter) >= _ALIKE_LENGTH * len(longer):
                yield other, _OF_ONE_ROOT

    def _compounds(self, form: str) -> Iterator[tuple[str, float]]:
        if len(form) < _ROOT:
            return
        least = max(_SHORTEST_COMPOUND, len(form) + _SHORTEST_PART)
        ended = (other[::-1] for other in _begins(form[::-1], self.endings))
        for other in chain(_begins(form, self.forms), ended):
            if len(other) >= least:
                yield other, _COMPOUND

    def _parts(self, form: str) -> Iterator[tuple[str, float]]:
        if not _SHORTEST_COMPOUND <= len(form) <= _LONGEST_COMPOUND:
            return
        for cut in range(_SHORTEST_PART, len(form) - _SHORTEST_PART + 1):
            parts = [part for part in (form[:cut], form[cut:]) if part in self.places]
            for part in parts:
                yield part, _COMPOUND if len(parts) > 1 else _PART


def passages(text: PreparedText) -> Passages:
    """Return the sentences of a text with the words that stand in them."""
    runs = sentence_runs(text)
    places: defaultdict[str, list[int]] = defaultdict(list)
    for number, run in enumerate(runs):
        for form in {form for word in content_words(text, run) for form in word.forms}:
            places[form].append(number)
    forms = tuple(sorted(places))
    return Passages(
        spans=tuple(run_span(text, run) for run in runs),
        places={form: np.array(numbers, dtype=np.intp) for form, numbers in places.items()},
        forms=forms,
        endings=tuple(sorted(form[::-1] for form in forms)),
    )


def _begins(beginning: str, ordered: tuple[str, ...]) -> Iterator[str]:
    first = bisect_left(ordered, beginning)
    return takewhile(lambda form: form.startswith(beginning), islice(ordered, first, first + _MOST_ALIKE))
