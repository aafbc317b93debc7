"""Refusals where the documents speak of what was asked (paper, Table II, "Context Limitation")."""

from scoring.claims.claim_extraction import ClaimKind
from scoring.claims.grounding import grounded_claims, question_coverage
from scoring.text.prepared_text import PreparedExchange
from scoring.values.exchange import FeatureValue
from scoring.values.rules import EvidenceRules

REFUSAL_JUSTIFIED = "refusal_justified"


class RefusalJustified:
    """How little the documents speak of what the answer says it has no answer to.

    The value is 1 - the share of the question's words, by weight, that stand together in a passage of the
    documents (:func:`scoring.claims.grounding.question_coverage`), in [0, 1]. Not applicable where nothing in
    the answer refuses.

    Measured on 1,000 rated answers of five products (see ``training/rated``), of which 143 refuse something:
    the value is below .4 for 16 of 41 wrong refusals and for 6 of 78 right ones. So it lowers the score,
    and no rule follows from it.

    >>> from scoring.text.prepared_text import PreparedPassage
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = PreparedPassage("d", text("A draft invoice can be deleted."))
    >>> refusal = text("I cannot find that in the documentation.")
    >>> questions = text("How do I delete a draft invoice?"), text("How do I cancel my holiday?")
    >>> [RefusalJustified().measure(PreparedExchange(each, refusal, (document,))).value for each in questions]
    [0.0, 1.0]
    """

    name = REFUSAL_JUSTIFIED
    uses_translation = False
    evidence_rules: EvidenceRules = ()

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return 1 - how far the question can be answered."""
        if all(each.claim.kind is not ClaimKind.REFUSAL for each in exchange.cached(grounded_claims)):
            return FeatureValue(self.name, None)
        return FeatureValue(self.name, 1 - exchange.cached(question_coverage))
