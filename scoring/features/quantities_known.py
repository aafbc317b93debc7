"""Numbers that no document has (paper, V-B, "Components Defined", after its check of precise numbers)."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.claims.alignment import aligned
from scoring.claims.known import known
from scoring.claims.quantities import Quantity, numbers, quantities, units
from scoring.claims.reading import Claim, sentences
from scoring.text.material import Material
from scoring.text.prepared import PreparedText
from scoring.text.spans import MAX_EVIDENCE, span_evidence
from scoring.values.rules import Rule, Severity
from scoring.values.types import FeatureValue

UNKNOWN_QUANTITY = "unknown_quantity"

# It also takes one for untrue that has calculated its numbers.
UNKNOWN = Rule(
    "unknown_quantity",
    "The answer names a number that neither documents nor question have.",
    Severity.HOLDS,
)

# What a clause of the answer and one of a document must have of each other for numbers to be compared.
_ALIKE = 0.5


class QuantitiesKnown:
    """Share of the answer's quantities whose number stands in the documents or the question.

    Heuristic: non-appearing statements. A quantity is a number with what it counts: "30 days", "€ 500",
    "15%"; the numbers of steps are none. Only those are compared of which the documents count the same
    thing at all. A number is known wherever it stands, since an answer may say of it something else than
    its sentence in the document. One that stands nowhere is unknown where a document counts the same thing
    in a clause that is at least half alike, in likeness as of ``statements_agree``; in any other clause the
    answer may have calculated it ("30 days, so 4 weeks"). The value is 1 - unknown / compared, in [0, 1];
    not applicable where nothing can be compared.

    Evidence: ``unknown_quantity``, each such number.

    Measured on 165 true answers that an independent reviewer wrote to be hard: evidence in 10 where every
    number in no text was unknown, and in 2 now, both calculated; so the policy holds such an answer and does
    not block it. Of his 34 guides with one thing changed, 7 of them a number in no text, it finds 6.

    >>> from scoring.text.material import ContextText
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = ContextText("d", text("The link works for 24 hours."))
    >>> value = QuantitiesKnown().measure(Material(text(""), text("It works for 48 hours."), (document,)))
    >>> value.value, [evidence.text for evidence in value.evidence]
    (0.0, ['48'])
    """

    name = "quantities_known"
    on_translation = False
    evidence = ((UNKNOWN_QUANTITY, UNKNOWN),)

    def measure(self, material: Material) -> FeatureValue:
        """Return 1 - unknown quantities / compared quantities."""
        texts = [document.text for document in material.context]
        counted = frozenset[str]().union(*(text.derived(units) for text in texts))
        compared = [found for found in material.answer.derived(quantities) if found.unit in counted]
        if not compared:
            return FeatureValue(self.name, None)
        given = frozenset[float]().union(*(text.derived(numbers) for text in (material.question, *texts)))
        unknown = [
            (found.start, found.end)
            for found in compared
            if found.value not in given and _is_changed(found, material)
        ]
        evidence = span_evidence(UNKNOWN_QUANTITY, material.answer, unknown[:MAX_EVIDENCE])
        return FeatureValue(self.name, 1 - len(unknown) / len(compared), evidence)


def _is_changed(found: Quantity, material: Material) -> bool:
    """Say whether a document counts the same thing in a clause like that of the quantity."""
    claim = next(claim for claim in _claims(material.answer) if claim.start <= found.start < claim.end)
    for document in material.context:
        counted = [other.start for other in document.text.derived(quantities) if other.unit == found.unit]
        for match in aligned(claim, document.text.derived(known), _ALIKE):
            if any(match.claim.start <= start < match.claim.end for start in counted):
                return True
    return False


def _claims(text: PreparedText) -> Iterator[Claim]:
    return (claim for sentence in text.derived(sentences) for claim in sentence.claims)
