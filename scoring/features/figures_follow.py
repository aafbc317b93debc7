"""Numbers of things that the documents list, or other ones (paper, Table II, "Answer Contradiction")."""

from scoring.claims.grounding import figure_claims
from scoring.figures.figure_checking import FigureOutcome
from scoring.text.prepared_text import PreparedExchange
from scoring.text.spans import MAX_EVIDENCE, span_evidence
from scoring.values.checked_claims import ClaimStatus
from scoring.values.exchange import FeatureValue
from scoring.values.rules import Rule, RuleEffect

REFUTED_FIGURE = "refuted_figure"

# It was measured on sentences made for it alone, so a person decides.
REFUTED_FIGURE_RULE = Rule(
    "refuted_figure",
    "The answer claims a figure that does not follow from the data of the documents.",
    RuleEffect.REVIEW,
    contradiction=0.7,
    status=ClaimStatus.CONTRADICTED,
    mistake="answer_contradiction",
)


class FiguresFollow:
    r"""Share of the numbers of things that are those of the documents' tables and lists, of those counted.

    "There are 4 plans" is compared with the rows of a list or table of plans
    (:func:`scoring.figures.figure_checking.check_clause`). The value is confirmed / (confirmed + refuted), in
    [0, 1]; not applicable where nothing could be counted. On 1,839 rated answers and the sample two were
    confirmed, none was refuted; totals, differences, shares and the like never came up, and are not computed.

    Evidence: ``refuted_figure``, each figure that does not follow.

    >>> from scoring.text.prepared_text import PreparedPassage
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = PreparedPassage("d", text("# Plans\n\nChoose a plan:\n\n- Basic\n- Team\n\nAsk us."))
    >>> answer = text("There are 4 plans.")
    >>> FiguresFollow().measure(PreparedExchange(text(""), answer, (document,))).value
    0.0
    """

    name = "figures_follow"
    uses_translation = False
    evidence_rules = ((REFUTED_FIGURE, REFUTED_FIGURE_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return confirmed numbers / counted numbers."""
        computed = [
            found
            for found in exchange.cached(figure_claims)
            if found.outcome is not FigureOutcome.NOT_CHECKABLE
        ]
        if not computed:
            return FeatureValue(self.name, None)
        refuted = [(each.start, each.end) for each in computed if each.outcome is FigureOutcome.REFUTED]
        evidence = span_evidence(REFUTED_FIGURE, exchange.answer, refuted[:MAX_EVIDENCE])
        return FeatureValue(self.name, 1 - len(refuted) / len(computed), evidence)
