"""Words of the question that come back in the answer (paper, V-B, "Prompt Overlap")."""

from scoring.text.prepared_text import PreparedExchange
from scoring.text.spans import content_stems, first_stem_spans, span_evidence
from scoring.values.exchange import FeatureValue

QUESTION_WORD = "question_word"


class PromptOverlap:
    """Share of the question's distinct content words that the answer repeats.

    Words are compared without plural endings. Not applicable where the question has no content word
    ("Can I?") or the answer no word. The value is in [0, 1]. Evidence ``question_word``: the first place
    of each word in the answer.

    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedText
    >>> texts = "Can I copy schedules?", "Copy it."
    >>> question, answer = (PreparedText.of(text, load_shipped()["en"]) for text in texts)
    >>> PromptOverlap().measure(PreparedExchange(question, answer, context=())).value
    0.5
    """

    name = "prompt_overlap"
    uses_translation = False
    evidence_rules = ((QUESTION_WORD, None),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return repeated content words / content words of the question."""
        asked = exchange.question.cached(content_stems)
        if not asked or not exchange.answer.words:
            return FeatureValue(self.name, None)
        places = exchange.answer.cached(first_stem_spans)
        repeated = sorted(places[stem] for stem in asked if stem in places)
        evidence = span_evidence(QUESTION_WORD, exchange.answer, repeated)
        return FeatureValue(self.name, len(repeated) / len(asked), evidence)
