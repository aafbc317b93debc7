"""The claims of a document, kept so that clauses which share words with a given one are found at once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scoring.claims.reading import Claim, Sentence, sentences
from scoring.text.prepared import PreparedText

# Words of one root: "approve" and "approval", and in Dutch "factuur" and "conceptfactuur".
_ROOT = 5
_OF_ONE_ROOT = 0.7
# So many words of one beginning are compared; a document that has more is no help text.
_MOST_ALIKE = 40


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The sentences of a document, the clauses of all of them, and in which clauses each word stands."""

    sentences: tuple[Sentence, ...]
    claims: tuple[Claim, ...]
    sentence_of: tuple[int, ...]
    places: Mapping[str, tuple[int, ...]]
    beginnings: Mapping[str, tuple[str, ...]]
    endings: Mapping[str, tuple[str, ...]]

    def like(self, word: str) -> frozenset[str]:
        """Return the words of the document that are the same as ``word`` or of one root with it."""
        same = {word} if word in self.places else set[str]()
        if len(word) < _ROOT:
            return frozenset(same)
        same.update(other for other in self.beginnings.get(word[:_ROOT], ()) if _begin_alike(word, other))
        same.update(other for other in self.endings.get(word[-_ROOT:], ()) if _end_alike(word, other))
        return frozenset(same)

    def weight(self, word: str) -> float:
        """Return what a word counts: more the fewer clauses it stands in, and above 0."""
        return math.log(1 + len(self.claims) / (len(self.places.get(word, ())) + 0.5))

    def weights(self, words: Iterable[str]) -> float:
        """Return what several words count together, to the last digit the same in whatever order."""
        return math.fsum(map(self.weight, words))


def known(text: PreparedText) -> Known:
    """Return what a text claims."""
    found = sentences(text)
    claims = tuple(claim for sentence in found for claim in sentence.claims)
    places: defaultdict[str, list[int]] = defaultdict(list)
    for index, claim in enumerate(claims):
        for word in claim.content:
            places[word].append(index)
    rooted = sorted(word for word in places if len(word) >= _ROOT)
    return Known(
        sentences=found,
        claims=claims,
        sentence_of=tuple(n for n, sentence in enumerate(found) for _ in sentence.claims),
        places={word: tuple(indices) for word, indices in places.items()},
        beginnings=_grouped((word[:_ROOT], word) for word in rooted),
        endings=_grouped((word[-_ROOT:], word) for word in rooted),
    )


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for key, word in pairs:
        if len(groups[key]) < _MOST_ALIKE:
            groups[key].append(word)
    return {key: tuple(words) for key, words in groups.items()}


def _begin_alike(left: str, right: str) -> bool:
    shorter, longer = sorted((left, right), key=len)
    return longer.startswith(shorter) or len(shorter) >= _OF_ONE_ROOT * len(longer)


def _end_alike(left: str, right: str) -> bool:
    return left.endswith(right) or right.endswith(left)
