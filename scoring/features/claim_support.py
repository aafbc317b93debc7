"""How well the documents support the answer's claims and refusals (paper, Table II)."""

import math

from scoring.claims.claim_extraction import ClaimKind
from scoring.claims.grounding import figure_claim, grounded_claims, question_coverage
from scoring.features import Feature
from scoring.text.prepared_text import PreparedExchange
from scoring.values.checked_claims import ClaimStatus
from scoring.values.exchange import FeatureValue


class ClaimsCovered(Feature):
    """Share of the words of the answer's claims that occur together in a passage of the documents.

    Heuristic: "Non-appearing Statements". Each claim is compared with every three consecutive sentences
    (:func:`scoring.claims.grounding.ground_words`); the value is the mean over the claims by the weight of
    their words, in [0, 1]. A figure that follows from the documents' data is fully covered, since no passage
    has its words together. Courtesies, questions and refusals are ignored; not applicable without other
    claims.

    Evidence: none, since each claim has its passage.

    >>> document = "Paid leave ends in May."
    >>> answers = "Great! The paid leave ends in May.", "The bonus follows in June."
    >>> exchanges = [PreparedExchange.of_texts("", answer, document) for answer in answers]
    >>> [ClaimsCovered().measure(exchange).value for exchange in exchanges]
    [1.0, 0.0]
    """

    name = "claims_covered"

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return the weighted mean share of the claims."""
        shares = []
        for grounded in exchange.cached(grounded_claims):
            if grounded.grounding:
                figure = figure_claim(grounded.claim, exchange)
                is_confirmed = figure and figure.status is ClaimStatus.SUPPORTED
                share = 1.0 if is_confirmed else grounded.grounding.share
                shares.append((share, grounded.grounding.weight))
        return FeatureValue(self.name, _weighted_mean(shares))


class ClaimsVerified(Feature):
    """Mean probability that the documents support a claim, by a verifier for the claims in doubt.

    Heuristic: "Non-appearing Statements", for paraphrased claims too. A claim in doubt
    (:func:`scoring.claims.claim_verification.claims_in_doubt`) counts with the verifier's probability that
    its passage supports it, any other with the share of its words as in ``claims_covered``. The value is the
    mean by the weight of their words, in [0, 1]. Not applicable without a verifier or without claims.

    Evidence: none, since each claim has its passage.

    >>> from dataclasses import replace
    >>> exchange = PreparedExchange.of_texts("", "Your holiday ends in May.", "Paid leave ends in May.")
    >>> exchanges = exchange, *(replace(exchange, support_probabilities=each) for each in ({}, {0: 0.9}))
    >>> [(value := ClaimsVerified().measure(each).value) and round(value, 2) for each in exchanges]
    [None, 0.32, 0.9]
    """

    name = "claims_verified"

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return the weighted mean probability of the claims."""
        probabilities = exchange.support_probabilities
        if probabilities is None:
            return FeatureValue(self.name, None)
        weighted = [
            (probabilities.get(index, grounded.grounding.share), grounded.grounding.weight)
            for index, grounded in enumerate(exchange.cached(grounded_claims))
            if grounded.grounding
        ]
        return FeatureValue(self.name, _weighted_mean(weighted))


def _weighted_mean(weighted: list[tuple[float, float]]) -> float | None:
    if not weighted:
        return None
    weight = math.fsum(weight for _, weight in weighted)
    return min(math.fsum(value * weight for value, weight in weighted) / weight, 1.0)


REFUSAL_JUSTIFIED = "refusal_justified"


class RefusalJustified(Feature):
    """How little the documents say about the question that the answer refuses.

    Heuristic: "Context Limitation". The value is 1 - the weighted share of the question's words in its best
    passage (:func:`scoring.claims.grounding.question_coverage`), in [0, 1]. Not applicable where nothing in
    the answer refuses.

    Measured on 1,000 rated answers of five products (see ``training/rated``), of which 143 refuse something:
    the value is below .4 for 16 of 41 wrong refusals and for 6 of 78 right ones. So it lowers the score, and
    no rule follows from it.

    >>> questions = "How do I delete a draft invoice?", "How do I cancel my holiday?"
    >>> texts = "I cannot find that in the documentation.", "A draft invoice can be deleted."
    >>> exchanges = [PreparedExchange.of_texts(question, *texts) for question in questions]
    >>> [RefusalJustified().measure(exchange).value for exchange in exchanges]
    [0.0, 1.0]
    """

    name = REFUSAL_JUSTIFIED

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return 1 - the coverage of the question."""
        if all(each.claim.kind is not ClaimKind.REFUSAL for each in exchange.cached(grounded_claims)):
            return FeatureValue(self.name, None)
        return FeatureValue(self.name, 1 - exchange.cached(question_coverage))
