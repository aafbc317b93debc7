"""Values that differ from those in the documents (paper, Table II, "Answer Contradiction")."""

from scoring.claims.claim_extraction import claims
from scoring.claims.compared_values import compared_values
from scoring.features import Feature
from scoring.figures.quantities import ValueAgreement
from scoring.text.prepared_text import PreparedExchange
from scoring.text.spans import span_evidence
from scoring.values.checked_claims import ClaimStatus
from scoring.values.exchange import FeatureValue
from scoring.values.rules import Rule, RuleEffect

CONTRADICTED_VALUE = "contradicted_value"

# Always right on the rated answers, but found in too few of them to block.
CONTRADICTED_VALUE_RULE = Rule(
    "contradicted_value",
    "The documents have another value at the position that the answer names.",
    RuleEffect.REVIEW,
    contradiction=0.9,
    status=ClaimStatus.CONTRADICTED,
    mistake="answer_contradiction",
)


class ValuesAgree(Feature):
    r"""Share of the claims that have the documents' value, among those that identify one position of these.

    A position is one cell of a table, one key of a list, or one sentence with all words of the claim
    (:func:`scoring.claims.compared_values.compared_values`). Values differ in a number, amount, date or time
    of day, or by a yes for a no: "the Pro plan is € 7" where its row says € 11, "Starter has an API" where
    the cell says no, "Twinfield is supported" where the page denies it. Claims that say more than that, or
    that are restricted to some cases ("if", "only", "without"), are not compared. The value is in [0, 1]; not
    applicable where no claim identifies a position.

    Evidence: ``contradicted_value``, each claim with another value.

    Measured on small help pages that were written for it (``tests/unit/scoring/data/contradictions.toml``):
    of 57 untrue claims on six held-out pages 53 are found, and of 82 similar true ones none; on the six
    others 55 of 56, and none of 87. On 1,199 rated answers of six products (see ``training/rated``),
    handbooks with hardly a table: 3 in untrue answers, of which one by its number and two by a negation, none
    in true ones. With three fifths of the words, and not all, another negation was found in 1 untrue answer
    and in 3 true ones.

    >>> document = "Plans:\n\n- Basic: $10 a month\n- Team: $25 a month\n"
    >>> exchange = PreparedExchange.of_texts("", "The Team plan costs $20 a month.", document)
    >>> [evidence.text for evidence in ValuesAgree().measure(exchange).evidence]
    ['The Team plan costs $20 a month']
    """

    name = "values_agree"
    evidence_rules = ((CONTRADICTED_VALUE, CONTRADICTED_VALUE_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return claims with the documents' value / compared claims."""
        values = exchange.cached(compared_values)
        if not values:
            return FeatureValue(self.name, None)
        different = [
            (claim.start, claim.end)
            for claim in exchange.answer.cached(claims)
            if claim.start in values and values[claim.start].agreement is ValueAgreement.DIFFERENT
        ]
        evidence = span_evidence(CONTRADICTED_VALUE, exchange.answer, different)
        return FeatureValue(self.name, 1 - len(different) / len(values), evidence)
