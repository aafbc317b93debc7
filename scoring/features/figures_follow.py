"""Numbers of listed things that the documents confirm or refute (paper, Table II, "Answer Contradiction")."""

from scoring.claims.grounding import figure_claims
from scoring.features import Feature
from scoring.figures.figure_checking import FigureOutcome
from scoring.text.prepared_text import PreparedExchange
from scoring.text.spans import span_evidence
from scoring.values.checked_claims import ClaimStatus
from scoring.values.exchange import FeatureValue
from scoring.values.rules import Rule, RuleEffect

REFUTED_FIGURE = "refuted_figure"

# Measured only on sentences made for it, so it does not block.
REFUTED_FIGURE_RULE = Rule(
    "refuted_figure",
    "The answer claims a figure that does not follow from the data of the documents.",
    RuleEffect.REVIEW,
    contradiction=0.7,
    status=ClaimStatus.CONTRADICTED,
    mistake="answer_contradiction",
)


class FiguresFollow(Feature):
    r"""Share of the counts of listed things that agree with the documents' tables and lists.

    "There are 4 plans" is compared with the rows of a list or table of plans
    (:func:`scoring.figures.figure_checking.check_clause`). The value is confirmed / (confirmed + refuted), in
    [0, 1]; not applicable where nothing could be counted. On 1,839 rated answers and the sample two were
    confirmed, none was refuted; totals, differences, shares and the like never came up, and are not computed.

    Evidence: ``refuted_figure``, each figure that does not follow.

    >>> document = "# Plans\n\nChoose a plan:\n\n- Basic\n- Team\n\nAsk us."
    >>> exchange = PreparedExchange.of_texts("", "There are 4 plans.", document)
    >>> FiguresFollow().measure(exchange).value
    0.0
    """

    name = "figures_follow"
    evidence_rules = ((REFUTED_FIGURE, REFUTED_FIGURE_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return confirmed counts / compared counts."""
        figures = exchange.cached(figure_claims)
        computed = [figure for figure in figures if figure.outcome is not FigureOutcome.NOT_CHECKABLE]
        if not computed:
            return FeatureValue(self.name, None)
        refuted = [(each.start, each.end) for each in computed if each.outcome is FigureOutcome.REFUTED]
        evidence = span_evidence(REFUTED_FIGURE, exchange.answer, refuted)
        return FeatureValue(self.name, 1 - len(refuted) / len(computed), evidence)
