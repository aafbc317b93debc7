"""Signal words of a thought-through answer (paper, V-B, "Complex Answer")."""

from __future__ import annotations

from scoring.features.base import Material, span_evidence
from scoring.lexicon import COMPLEXITY_KINDS
from scoring.types import Evidence, FeatureValue


class ComplexAnswer:
    """Share of the four kinds of signal words that the answer uses.

    The kinds are perspective, comparison, example and reasoning; one word of a kind is enough,
    and its first occurrence is the evidence. Not applicable to an answer without words.
    """

    name = "complex_answer"
    on_translation = False

    def measure(self, material: Material) -> FeatureValue:
        """Return kinds that occur / 4."""
        if not material.answer.words:
            return FeatureValue(self.name, None)
        evidence = tuple(found for kind in COMPLEXITY_KINDS for found in _first(material, kind))
        return FeatureValue(self.name, len(evidence) / len(COMPLEXITY_KINDS), evidence)


def _first(material: Material, kind: str) -> tuple[Evidence, ...]:
    answer = material.answer
    hit = next(answer.lexicon.complexity[kind].find(answer.word_texts), None)
    if hit is None:
        return ()
    span = answer.words[hit[0]].start, answer.words[hit[1] - 1].end
    return span_evidence(f"{kind}_signal", answer, [span])
