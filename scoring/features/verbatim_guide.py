"""A numbered guide that a document holds almost word for word (paper, V-B, "Verbatim Guide Defined")."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scoring.components import components
from scoring.features.base import ContextText, Material, span_evidence
from scoring.guides import Guide, Step, guides
from scoring.lexicon import Lexicon
from scoring.sentences import sentences
from scoring.text import PreparedText, words_of
from scoring.types import Evidence, FeatureValue

VERBATIM_GUIDE = "verbatim_guide"
DIFFERING_STEP = "differing_step"

# An answer with more guides is no support answer; the limit bounds steps times steps.
_MOST_GUIDES = 10
_MOST_STEPS = 50
_LEAD_IN_WORDS = 20


class VerbatimGuide:
    """How near the answer's numbered guides come to guides of the context.

    A guide's value is its best over the context's guides: the mean over its steps of the cosine of
    their word counts, times the ratio of the step counts. The feature is the mean over the
    answer's guides; 0 where the context has no guide, not applicable where the answer has none.

    Mistakes of chatbots change one number, one "not" or one button of a guide, which no cosine
    notices. So the evidence ``verbatim_guide``, on which the score rests, asks for more: every
    guide of the answer has the steps of one guide of a document, each with the same words in the
    same order (fillers of the lexicon apart), and what the answer says around its guides are
    sentences of that document too, or lead-ins that state nothing. The words that a step does not
    share with its nearest guide make it a ``differing_step``.
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
        return FeatureValue(self.name, min(value, 1.0), tuple(_evidence(material, own, matches)))


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


def _evidence(material: Material, own: tuple[Guide, ...], matches: list[_Match]) -> Iterator[Evidence]:
    answer = material.answer
    if len(own) == len(matches) and all(_is_verbatim(match, answer.lexicon) for match in matches):
        documents = [match.document for match in matches if match.document]
        if _says_nothing_else(answer, own, documents):
            for match, document in zip(matches, documents, strict=True):
                yield from span_evidence(VERBATIM_GUIDE, answer, [match.guide.span], document.document_id)
            return
    for match in matches:
        if match.nearest and match.document:
            spans = _differing(match.guide, match.nearest, answer.lexicon)
            yield from span_evidence(DIFFERING_STEP, answer, spans, match.document.document_id)


def _is_verbatim(match: _Match, lexicon: Lexicon) -> bool:
    if match.nearest is None or len(match.guide.steps) != len(match.nearest.steps):
        return False
    return all(
        _plain(own, lexicon) == _plain(other, lexicon)
        for own, other in zip(match.guide.steps, match.nearest.steps, strict=True)
    )


def _differing(guide: Guide, nearest: Guide, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    known = {_plain(step, lexicon) for step in nearest.steps}
    for step in guide.steps:
        if _plain(step, lexicon) not in known:
            yield step.start, step.end


def _plain(step: Step, lexicon: Lexicon) -> tuple[str, ...]:
    return _without_fillers((word.text for word in step.words), lexicon)


def _without_fillers(words: Iterable[str], lexicon: Lexicon) -> tuple[str, ...]:
    return tuple(word for word in words if word not in lexicon.fillers)


def _says_nothing_else(answer: PreparedText, own: tuple[Guide, ...], documents: list[ContextText]) -> bool:
    sources = [document.text.derived(plain_text) for document in documents]
    named = [component.span for component in answer.derived(components)]
    return all(
        _is_lead_in(answer, span, named) or _stands_in(answer, span, sources)
        for span in _outside(answer, own)
    )


def plain_text(text: PreparedText) -> str:
    """Return the words of a text without fillers, each between spaces."""
    return f" {' '.join(_without_fillers(text.word_texts, text.lexicon))} "


def _outside(answer: PreparedText, own: tuple[Guide, ...]) -> Iterator[tuple[int, int]]:
    starts = [answer.start, *(guide.span[1] for guide in own)]
    ends = [*(answer.original.rfind("\n", 0, guide.span[0]) + 1 for guide in own), answer.end]
    for start, end in zip(starts, ends, strict=True):
        yield from sentences(answer.original, start, end)


def _is_lead_in(answer: PreparedText, span: tuple[int, int], named: list[tuple[int, int]]) -> bool:
    """Say whether a sentence only leads in: ends in a colon, names, counts and negates nothing."""
    start, end = span
    words = [word.text for word in words_of(answer.original, start, end)]
    if len(words) > _LEAD_IN_WORDS or not answer.original[start:end].rstrip().endswith(":"):
        return False
    if any(start <= place[0] < end for place in named) or not answer.lexicon.negations.isdisjoint(words):
        return False
    return not any(word[0].isdigit() for word in words)


def _stands_in(answer: PreparedText, span: tuple[int, int], sources: list[str]) -> bool:
    words = _without_fillers((word.text for word in words_of(answer.original, *span)), answer.lexicon)
    return any(f" {' '.join(words)} " in source for source in sources) if words else True
