"""How far the documents have the words of each claim (paper, Table II, "Non-appearing Statements")."""

import math

from scoring.claims.grounding import GroundedClaim, figure_claim, grounded_claims
from scoring.figures.figure_checking import FigureOutcome
from scoring.text.prepared_text import PreparedExchange
from scoring.values.exchange import FeatureValue
from scoring.values.rules import EvidenceRules


class ClaimsCovered:
    """Share of the words of the answer's claims that stand together in a passage of the documents.

    Heuristic: non-appearing statements (paper, Table II). Each claim is compared with every three sentences
    that follow each other (:func:`scoring.claims.grounding.ground_words`); the value is the mean over the
    claims by the weight of their words, in [0, 1]. A figure that follows from the documents' data is covered
    whole: its words stand there nowhere together. Courtesies, questions and refusals are left out; not
    applicable where nothing else is said.

    Evidence: none of its own, each claim has its passage.

    >>> from scoring.text.prepared_text import PreparedPassage
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = PreparedPassage("d", text("Paid leave ends in May."))
    >>> answers = text("Great! The paid leave ends in May."), text("The bonus follows in June.")
    >>> [ClaimsCovered().measure(PreparedExchange(text(""), answer, (document,))).value for answer in answers]
    [1.0, 0.0]
    """

    name = "claims_covered"
    uses_translation = False
    evidence_rules: EvidenceRules = ()

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return the weighted mean share of the claims."""
        found = [
            (_share(each, each.grounding.share, exchange), each.grounding.weight)
            for each in exchange.cached(grounded_claims)
            if each.grounding
        ]
        weight = math.fsum(weight for _, weight in found)
        if not found:
            return FeatureValue(self.name, None)
        covered = math.fsum(share * weight for share, weight in found)
        return FeatureValue(self.name, min(covered / weight, 1.0))


def _share(each: GroundedClaim, by_words: float, exchange: PreparedExchange) -> float:
    found = figure_claim(each.claim, exchange)
    return 1.0 if found and found.outcome is FigureOutcome.CONFIRMED else by_words
