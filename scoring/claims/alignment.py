"""The clauses and sentences of a document that speak of what a clause or a question speaks of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scoring.claims.known import Known
from scoring.claims.reading import Claim, Sentence

# No question has more; what is left out of a longer one cannot cost time.
_MOST_WORDS = 100
# With less of its words than that a sentence speaks of something else than the question.
_ANSWERS = 0.5
#: Fewer content words than that any two sentences may share.
FEWEST_WORDS = 2


@dataclass(frozen=True, slots=True)
class Aligned:
    """A clause of a document, the sentence it stands in, and how alike it is to another, in [0, 1]."""

    claim: Claim
    sentence: Sentence
    likeness: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A sentence of a document and how it fits a question.

    ``answers``: the share of the question's words that it has; ``asked``: the share of its own words that
    are the question's; both in [0, 1] and by weight. ``shared``: these words of the sentence.
    """

    sentence: Sentence
    answers: float
    asked: float
    shared: frozenset[str]

    @property
    def is_reply(self) -> bool:
        """Whether the sentence has enough of the question to answer it."""
        return self.answers >= _ANSWERS


def aligned(claim: Claim, document: Known, least: float) -> Iterator[Aligned]:
    """Yield the clauses of a document that are at least ``least`` alike to ``claim``, in order.

    Likeness is the harmonic mean of the shares of either one's content that the other has, by weight.
    """
    covered, shared, total = _overlaps(sorted(claim.content), document, range(len(document.claims)))
    for index, weight in sorted(covered.items()):
        # The mean of two shares is below twice the lesser one.
        own = weight / total
        if 2 * own / (1 + own) < least:
            continue
        other = document.claims[index]
        share = document.weights(shared[index]) / document.weights(other.content)
        likeness = 2 * own * share / (own + share)
        if likeness >= least:
            yield Aligned(other, document.sentences[document.sentence_of[index]], likeness)


def coverage(question: frozenset[str], document: Known) -> Iterator[Asked]:
    """Yield the sentences of a document that share a word with the question, in order."""
    words = sorted(question)[:_MOST_WORDS]
    covered, shared, total = _overlaps(words, document, document.sentence_of)
    for place, weight in sorted(covered.items()):
        sentence = document.sentences[place]
        asked = document.weights(shared[place]) / document.weights(sentence.content)
        yield Asked(sentence, weight / total, asked, frozenset(shared[place]))


def _overlaps(
    words: Sequence[str], document: Known, place_of: Sequence[int]
) -> tuple[dict[int, float], dict[int, set[str]], float]:
    """Return by place the weight of ``words`` it has and its own words that match, and the whole weight.

    ``words`` are sorted, or the last digits of the sums would be others in every process. ``place_of`` gives
    for each clause of the document what counts as its place.
    """
    covered: defaultdict[int, float] = defaultdict(float)
    shared: defaultdict[int, set[str]] = defaultdict(set)
    total = 0.0
    for word in words:
        alike = document.like(word)
        weight = _weight(word, alike, document)
        total += weight
        found = {(place_of[n], other) for other in alike for n in document.places[other]}
        for place in {place for place, _ in found}:
            covered[place] += weight
        for place, other in found:
            shared[place].add(other)
    return covered, shared, total


def _weight(word: str, alike: frozenset[str], document: Known) -> float:
    return max(map(document.weight, alike), default=document.weight(word))
