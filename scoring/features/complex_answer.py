"""Signal words of a thought-through answer (paper, V-B, "Complex Answer")."""

from scoring.text.prepared_text import PreparedExchange
from scoring.text.spans import span_evidence
from scoring.values.exchange import Evidence, FeatureValue

_KINDS = ("perspective", "comparison", "example", "reasoning")


class ComplexAnswer:
    """Share of the four kinds of signal words that the answer uses.

    The kinds are perspective, comparison, example and reasoning; one word of a kind is enough,
    and its first occurrence is the evidence, such as ``reasoning_signal``. Heuristic: general answer;
    one that reasons, compares or gives examples says more than a simple or vague one. The value is in
    [0, 1] by steps of a quarter. Not applicable to an answer without words.

    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedText
    >>> texts = "Can I?", "No, because it is closed."
    >>> question, answer = (PreparedText.of(text, load_shipped()["en"]) for text in texts)
    >>> value = ComplexAnswer().measure(PreparedExchange(question, answer, context=()))
    >>> value.value, [(evidence.kind, evidence.text) for evidence in value.evidence]
    (0.25, [('reasoning_signal', 'because')])
    """

    name = "complex_answer"
    uses_translation = False
    evidence_rules = tuple((f"{kind}_signal", None) for kind in _KINDS)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return kinds that occur / 4."""
        if not exchange.answer.words:
            return FeatureValue(self.name, None)
        evidence = tuple(found for kind in _KINDS for found in _first(exchange, kind))
        return FeatureValue(self.name, len(evidence) / len(_KINDS), evidence)


def _first(exchange: PreparedExchange, kind: str) -> tuple[Evidence, ...]:
    answer = exchange.answer
    hit = next(answer.lexicon.features[ComplexAnswer.name][kind].find(answer.word_texts), None)
    if hit is None:
        return ()
    span = answer.words[hit[0]].start, answer.words[hit[1] - 1].end
    return span_evidence(f"{kind}_signal", answer, [span])
