"""Figures that follow from the documents' data, or do not (paper, Table II, "Answer Contradiction")."""

from scoring.claims.grounding import indirect_claims
from scoring.figures.values import Outcome
from scoring.text.prepared import Material
from scoring.text.spans import MAX_EVIDENCE, span_evidence
from scoring.values.claims import ClaimStatus
from scoring.values.rules import Rule, Severity
from scoring.values.types import FeatureValue

REFUTED_FIGURE = "refuted_figure"

# It was measured on sentences made for it alone, so a person decides.
REFUTED = Rule(
    "refuted_figure",
    "The answer claims a figure that does not follow from the data of the documents.",
    Severity.HOLDS,
    contradiction=0.7,
    status=ClaimStatus.CONTRADICTED,
    mistake="answer_contradiction",
)


class FiguresFollow:
    r"""Share of the figures that follow from the documents' tables and lists, of those that were computed.

    Sums, differences, averages, shares, growth, the highest and the lowest, counts and days between dates
    (:func:`scoring.figures.checking.check`). The value is confirmed / (confirmed + refuted), in
    [0, 1]; not applicable where nothing could be computed.

    Evidence: ``refuted_figure``, each figure that does not follow.

    >>> from scoring.text.prepared import ContextText
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = ContextText("d", text("Prices:\n\n- Basic: $10\n- Team: $25\n"))
    >>> answer = text("Team is $20 more expensive than Basic.")
    >>> FiguresFollow().measure(Material(text(""), answer, (document,))).value
    0.0
    """

    name = "figures_follow"
    on_translation = False
    evidence = ((REFUTED_FIGURE, REFUTED),)

    def measure(self, material: Material) -> FeatureValue:
        """Return confirmed figures / computed figures."""
        computed = [
            found for found in material.derived(indirect_claims) if found.outcome is not Outcome.NOT_CHECKABLE
        ]
        if not computed:
            return FeatureValue(self.name, None)
        refuted = [(each.start, each.end) for each in computed if each.outcome is Outcome.REFUTED]
        evidence = span_evidence(REFUTED_FIGURE, material.answer, refuted[:MAX_EVIDENCE])
        return FeatureValue(self.name, 1 - len(refuted) / len(computed), evidence)
