"""A numbered guide that a document holds almost word for word (paper, V-B, "Verbatim Guide Defined")."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from scoring.features.base import ContextText, Material, span_evidence
from scoring.guides import Guide, Step, guides
from scoring.lexicon import Lexicon
from scoring.types import Evidence, FeatureValue
from scoring.verbatim import quotation

VERBATIM_GUIDE = "verbatim_guide"
DIFFERING_STEP = "differing_step"

# An answer with more guides is no support answer; the limit bounds steps times steps.
_MOST_GUIDES = 10
_MOST_STEPS = 50


class VerbatimGuide:
    """How near the answer's numbered guides come to guides of the context.

    A guide's value is its best over the context's guides: the mean over its steps of the cosine of
    their word counts, times the ratio of the step counts. The feature is the mean over the
    answer's guides; 0 where the context has no guide, not applicable where the answer has none.

    Mistakes of chatbots change one number, one "not" or one button of a guide, which no cosine
    notices. So the evidence ``verbatim_guide``, on which the score rests, asks for more: the whole
    answer is a quotation (see :func:`scoring.verbatim.quotation`). Otherwise a step that differs in
    its words from all steps of the nearest guide (fillers of the lexicon apart) is a
    ``differing_step``.
    """

    name = "verbatim_guide"
    on_translation = True

    def measure(self, material: Material) -> FeatureValue:
        """Return the mean similarity of the answer's guides."""
        own = material.answer.derived(guides)
        if not own:
            return FeatureValue(self.name, None)
        matches = [_best(guide, material) for guide in own[:_MOST_GUIDES]]
        value = sum(match.similarity for match in matches) / len(own)
        return FeatureValue(self.name, min(value, 1.0), tuple(_evidence(material, matches)))


@dataclass(frozen=True, slots=True)
class _Match:
    guide: Guide
    similarity: float = 0.0
    nearest: Guide | None = None
    document: ContextText | None = None


def _best(guide: Guide, material: Material) -> _Match:
    best = _Match(guide)
    own = _counts(guide)
    for document in material.context:
        for other in document.text.derived(guides)[:_MOST_GUIDES]:
            similarity = _similarity(own, _counts(other))
            if similarity > best.similarity:
                best = _Match(guide, similarity, other, document)
    return best


def _counts(guide: Guide) -> list[Counter[str]]:
    return [Counter(word.text for word in step.words) for step in guide.steps[:_MOST_STEPS]]


def _similarity(own: list[Counter[str]], other: list[Counter[str]]) -> float:
    if len(own) == len(other):
        return sum(map(cosine, own, other)) / len(own)
    nearest = [max(cosine(step, candidate) for candidate in other) for step in own]
    ratio = min(len(own), len(other)) / max(len(own), len(other))
    return ratio * sum(nearest) / len(own)


def cosine(left: Counter[str], right: Counter[str]) -> float:
    """Return the cosine of two word counts, in [0, 1]; 0 where either is empty."""
    product = sum(count * right[word] for word, count in left.items())
    lengths = math.sqrt(_squares(left) * _squares(right))
    return min(product / lengths, 1.0) if lengths else 0.0


def _squares(counts: Counter[str]) -> int:
    return sum(count * count for count in counts.values())


def _evidence(material: Material, matches: list[_Match]) -> Iterator[Evidence]:
    answer = material.answer
    if quoted := quotation(material):
        span = quoted.start, len(answer.original.rstrip())
        yield from span_evidence(VERBATIM_GUIDE, answer, [span], quoted.document.document_id)
        return
    for match in matches:
        if match.nearest and match.document:
            spans = _differing(match.guide, match.nearest, answer.lexicon)
            yield from span_evidence(DIFFERING_STEP, answer, spans, match.document.document_id)


def _differing(guide: Guide, nearest: Guide, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    known = {_plain(step, lexicon) for step in nearest.steps}
    for step in guide.steps:
        if _plain(step, lexicon) not in known:
            yield step.start, step.end


def _plain(step: Step, lexicon: Lexicon) -> tuple[str, ...]:
    return tuple(word.text for word in step.words if word.text not in lexicon.fillers)
