"""A numbered guide that a document holds almost word for word (paper, V-B, "Verbatim Guide Defined")."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from scoring.lexicon import Lexicon
from scoring.text.guides import Guide, GuideStep, guides
from scoring.text.parsing import NON_WORD_POS
from scoring.text.prepared_text import PreparedExchange, PreparedPassage, PreparedText
from scoring.text.spans import span_evidence
from scoring.values.exchange import Evidence, FeatureValue

DIFFERING_STEP = "differing_step"

# An answer with more guides is no support answer; the limit bounds steps times steps.
_MOST_GUIDES = 10
_MOST_STEPS = 50


class VerbatimGuide:
    r"""How near the answer's numbered guides come to guides of the context.

    A guide's value is its best over the context's guides: the mean over its steps of the cosine of
    the counts of their lemmas, without stop words, times the ratio of the step counts. The feature is
    the mean over the answer's guides (the first 10): in [0, 1], 0 where the context has no guide, not
    applicable where the answer has none.

    Mistakes of chatbots change one number, one "not" or one button of a guide, which no cosine
    notices. So nothing is sent for it (:class:`scoring.features.verbatim_document.VerbatimDocument` asks for
    more), and a step that differs in its words from all steps of the nearest guide (fillers of the lexicon
    apart) is a ``differing_step``.

    >>> from scoring.lexicon import load_shipped
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> guide = "1. Open the menu.\n2. Choose the colour."
    >>> document = PreparedPassage("d", text(f"A way to do it:\n\n{guide}"))
    >>> VerbatimGuide().measure(PreparedExchange(text("How?"), text(guide), (document,))).value
    1.0
    """

    name = "verbatim_guide"
    uses_translation = True
    evidence_rules = ((DIFFERING_STEP, None),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return the mean similarity of the answer's guides."""
        own = exchange.answer.cached(guide_lemma_counts)
        if not own:
            return FeatureValue(self.name, None)
        matches = [_best_match(guide, counts, exchange) for guide, counts in own]
        value = math.fsum(match.similarity for match in matches) / len(own)
        return FeatureValue(self.name, min(value, 1.0), tuple(_evidence(exchange, matches)))


@dataclass(frozen=True, slots=True)
class _Match:
    guide: Guide
    similarity: float = 0.0
    nearest: Guide | None = None
    document: PreparedPassage | None = None


def _best_match(guide: Guide, own: list[Counter[str]], exchange: PreparedExchange) -> _Match:
    best = _Match(guide)
    for document in exchange.context:
        for other, counts in document.text.cached(guide_lemma_counts):
            similarity = _similarity(own, counts)
            if similarity > best.similarity:
                best = _Match(guide, similarity, other, document)
    return best


def guide_lemma_counts(text: PreparedText) -> tuple[tuple[Guide, list[Counter[str]]], ...]:
    """Return the first guides of a text, each with the counts of the lemmas of its first steps."""
    return tuple(
        (guide, [_lemmas(text, step) for step in guide.steps[:_MOST_STEPS]])
        for guide in guides(text)[:_MOST_GUIDES]
    )


def _lemmas(text: PreparedText, step: GuideStep) -> Counter[str]:
    parse = text.parse
    indices = parse.indices(step.start, step.end)
    return Counter(
        parse.lemma[n] for n in indices if not parse.is_stop[n] and parse.pos[n] not in NON_WORD_POS
    )


def _similarity(own: list[Counter[str]], other: list[Counter[str]]) -> float:
    if len(own) == len(other):
        return math.fsum(map(cosine, own, other)) / len(own)
    nearest = [max(cosine(step, candidate) for candidate in other) for step in own]
    ratio = min(len(own), len(other)) / max(len(own), len(other))
    return ratio * math.fsum(nearest) / len(own)


def cosine(left: Counter[str], right: Counter[str]) -> float:
    """Return the cosine of two word counts, in [0, 1]; 0 where either is empty."""
    product = sum(count * right[word] for word, count in left.items())
    lengths = math.sqrt(_squares(left) * _squares(right))
    return min(product / lengths, 1.0) if lengths else 0.0


def _squares(counts: Counter[str]) -> int:
    return sum(count * count for count in counts.values())


def _evidence(exchange: PreparedExchange, matches: list[_Match]) -> Iterator[Evidence]:
    answer = exchange.answer
    for match in matches:
        if match.nearest and match.document:
            spans = _differing_steps(match.guide, match.nearest, answer.lexicon)
            yield from span_evidence(DIFFERING_STEP, answer, spans, match.document.document_id)


def _differing_steps(guide: Guide, nearest: Guide, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    known = {_significant_words(step, lexicon) for step in nearest.steps}
    for step in guide.steps:
        if _significant_words(step, lexicon) not in known:
            yield step.start, step.end


def _significant_words(step: GuideStep, lexicon: Lexicon) -> tuple[str, ...]:
    return tuple(word.text for word in step.words if word.text not in lexicon.fillers)
