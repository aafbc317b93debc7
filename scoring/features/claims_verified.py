"""How probable a verifier finds each claim (paper, Table II, "Non-appearing Statements", by meaning)."""

import math

from scoring.claims.grounding import grounded_claims
from scoring.text.prepared_text import PreparedExchange
from scoring.values.exchange import FeatureValue
from scoring.values.rules import EvidenceRules


class ClaimsVerified:
    """Mean probability that the documents support a claim, by a verifier where their words leave doubt.

    Heuristic: non-appearing statements (paper, Table II), of claims in other words too. A claim that the
    verifier gave an opinion on (:func:`scoring.claims.claim_verification.asked`) counts with the probability
    that its passage supports it, any other with the share of its words as in ``claims_covered``. The value is
    the mean by the weight of their words, in [0, 1]. Not applicable where no verifier is named, or nothing is
    claimed.

    Evidence: none of its own, each claim has its passage.

    >>> from dataclasses import replace
    >>> from scoring.text.prepared_text import PreparedPassage
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = PreparedPassage("d", text("Paid leave ends in May."))
    >>> exchange = PreparedExchange(text(""), text("Your holiday ends in May."), (document,))
    >>> given = {}, {0: 0.9}
    >>> exchanges = exchange, *(replace(exchange, support_probabilities=each) for each in given)
    >>> [(value := ClaimsVerified().measure(each).value) and round(value, 2) for each in exchanges]
    [None, 0.32, 0.9]
    """

    name = "claims_verified"
    uses_translation = False
    evidence_rules: EvidenceRules = ()

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return the weighted mean probability of the claims."""
        verified = exchange.support_probabilities
        claims = enumerate(exchange.cached(grounded_claims)) if verified is not None else ()
        found = [(place, claim.grounding) for place, claim in claims if claim.grounding]
        if verified is None or not found:
            return FeatureValue(self.name, None)
        weight = math.fsum(grounding.weight for _, grounding in found)
        probable = math.fsum(
            verified.get(place, grounding.share) * grounding.weight for place, grounding in found
        )
        return FeatureValue(self.name, min(probable / weight, 1.0))
