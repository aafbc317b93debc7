"""A numbered guide that a document has almost word for word (paper, V-B, "Verbatim Guide Defined")."""

import math
from collections import Counter
from collections.abc import Iterator

from scoring.features import Feature
from scoring.lexicon import Lexicon
from scoring.text.guides import Guide, GuideStep, guides
from scoring.text.parsing import NON_WORD_POS, Parse
from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import span_evidence
from scoring.values.exchange import Evidence, FeatureValue

DIFFERING_STEP = "differing_step"

# No support answer has more; the limits bound the comparison of steps with steps.
_MAX_GUIDES = 10
_MAX_STEPS = 50


class VerbatimGuide(Feature):
    r"""How similar the answer's numbered guides are to guides of the context.

    A guide's value is its best over the context's guides: the mean over its steps of the cosine of the counts
    of their lemmas, without stop words, times the ratio of the step counts. The feature is the mean over the
    answer's guides (the first 10), in [0, 1]; 0 where the context has no guide, not applicable where the
    answer has none.

    Chatbots' mistakes change one number, one "not" or one button of a guide, which no cosine shows. So
    nothing is sent for it (:class:`scoring.features.verbatim_document.VerbatimDocument` requires more), and a
    step with other words than all steps of the most similar guide (apart from fillers of the lexicon) is a
    ``differing_step``.

    >>> guide = "1. Open the menu.\n2. Choose the colour."
    >>> VerbatimGuide().measure(PreparedExchange.of_texts("How?", guide, f"A way to do it:\n\n{guide}")).value
    1.0
    """

    name = "verbatim_guide"
    uses_translation = True
    evidence_rules = ((DIFFERING_STEP, None),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return the mean similarity of the answer's guides."""
        answer, similarities, evidence = exchange.answer, list[float](), list[Evidence]()
        for guide, counts in answer.cached(guide_lemma_counts):
            best, nearest, nearest_document = 0.0, None, None
            for document in exchange.context:
                for other, other_counts in document.text.cached(guide_lemma_counts):
                    if (similarity := _similarity(counts, other_counts)) > best:
                        best, nearest, nearest_document = similarity, other, document
            similarities.append(best)
            if nearest and nearest_document:
                spans = _differing_steps(guide, nearest, answer.lexicon)
                evidence += span_evidence(DIFFERING_STEP, answer, spans, nearest_document.document_id)
        if not similarities:
            return FeatureValue(self.name, None)
        value = math.fsum(similarities) / len(similarities)
        return FeatureValue(self.name, min(value, 1.0), tuple(evidence))


def guide_lemma_counts(text: PreparedText) -> tuple[tuple[Guide, list[Counter[str]]], ...]:
    """Return the first guides of a text, each with the lemma counts of its first steps."""
    return tuple(
        (guide, [_lemma_counts(text.parse, step) for step in guide[:_MAX_STEPS]])
        for guide in guides(text)[:_MAX_GUIDES]
    )


def _lemma_counts(parse: Parse, step: GuideStep) -> Counter[str]:
    tokens = parse.indices(step.start, step.end)
    return Counter(
        parse.lemma[n] for n in tokens if not parse.is_stop[n] and parse.pos[n] not in NON_WORD_POS
    )


def _similarity(own: list[Counter[str]], other: list[Counter[str]]) -> float:
    if len(own) == len(other):
        return math.fsum(map(_cosine, own, other)) / len(own)
    nearest = [max(_cosine(step, candidate) for candidate in other) for step in own]
    ratio = min(len(own), len(other)) / max(len(own), len(other))
    return ratio * math.fsum(nearest) / len(own)


def _cosine(left: Counter[str], right: Counter[str]) -> float:
    product = sum(count * right[word] for word, count in left.items())
    squares = (sum(count * count for count in counts.values()) for counts in (left, right))
    length = math.sqrt(math.prod(squares))
    return min(product / length, 1.0) if length else 0.0


def _differing_steps(guide: Guide, nearest: Guide, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    known = {_significant_words(step, lexicon) for step in nearest}
    for step in guide:
        if _significant_words(step, lexicon) not in known:
            yield step.start, step.end


def _significant_words(step: GuideStep, lexicon: Lexicon) -> tuple[str, ...]:
    return tuple(word.text for word in step.words if word.text not in lexicon.fillers)
