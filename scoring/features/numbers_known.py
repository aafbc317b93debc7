"""Numbers that no document has (paper, V-B, "Components Defined", after its check of precise numbers)."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.claims.indirect import open_figures
from scoring.figures.deriving import Derivable
from scoring.figures.reading.readings import Reading, number_spans, readings
from scoring.text.material import Material
from scoring.text.prepared import PreparedText
from scoring.text.spans import MAX_EVIDENCE, span_evidence
from scoring.values.claims import ClaimStatus
from scoring.values.rules import Rule, Severity
from scoring.values.types import FeatureValue

UNKNOWN_NUMBER = "unknown_number"

DERIVED_NUMBER = "derived_number"

UNKNOWN = Rule(
    "unknown_number",
    "The answer names a number that neither documents nor question have.",
    Severity.BLOCKS,
    contradiction=0.9,
    status=ClaimStatus.NOT_FOUND,
    mistake="non_appearing_statement",
)

DERIVED = Rule(
    "derived_number",
    "The answer names a number that one computation on those of the documents or the question gives.",
    Severity.HOLDS,
    contradiction=0.4,
)


class NumbersKnown:
    """Share of the answer's numbers that the documents or the question have, wherever they stand.

    Heuristic: non-appearing statements. Numbers in digits are looked for, in digits or words, with commas
    and stops as either language sets them; those of steps are none. A time of day is known however it is
    written: 2 pm where a document has 14:00 (:func:`scoring.text.clock.clock_times`). One that follows from
    the documents' data (``figures_follow``) is known too, and one that may follow from them though it cannot
    be computed is not taken for unknown. The value is known / all, in [0, 1]; not applicable where the answer
    has none.

    Evidence: ``unknown_number``, each that stands nowhere.

    Measured on 1,000 rated answers of five products (see ``training/rated``): evidence in 33 of 386 untrue
    answers and in 2 of 472 true ones, of which one had calculated it.

    >>> from scoring.text.material import ContextText
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = ContextText("d", text("The link works for two days, at most 1,500 times."))
    >>> answer = text("It works for 2 days, 1500 times, and costs 3 euros.")
    >>> value = NumbersKnown().measure(Material(text(""), answer, (document,)))
    >>> [evidence.text for evidence in value.evidence]
    ['3']
    """

    name = "numbers_known"
    on_translation = False
    evidence = ((UNKNOWN_NUMBER, UNKNOWN), (DERIVED_NUMBER, DERIVED))

    def measure(self, material: Material) -> FeatureValue:
        """Return known numbers / numbers."""
        answer = material.answer
        spans = list(number_spans(answer, answer.start, answer.end))
        if not spans:
            return FeatureValue(self.name, None)
        texts = (material.question, *(document.text for document in material.context))
        told = [reading for text in texts for reading in text.derived(readings) if not reading.loose]
        known = {reading.key for reading in told}
        computed = material.derived(open_figures)
        strange = [
            span
            for span in spans
            if known.isdisjoint(reading.key for reading in _of(span, answer))
            and not any(start <= span[0] and span[1] <= end for start, end in computed)
        ]
        derivable = Derivable(material) if strange else None
        derived = [span for span in strange if derivable and derivable.follows([*_of(span, answer)])]
        unknown = [span for span in strange if span not in derived]
        evidence = (
            *span_evidence(UNKNOWN_NUMBER, answer, unknown[:MAX_EVIDENCE]),
            *span_evidence(DERIVED_NUMBER, answer, derived[:MAX_EVIDENCE]),
        )
        return FeatureValue(self.name, 1 - len(strange) / len(spans), evidence)


def _of(span: tuple[int, int], answer: PreparedText) -> Iterator[Reading]:
    return (each for each in answer.derived(readings) if each.start <= span[0] and span[1] <= each.end)
