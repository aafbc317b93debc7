"""Values that are others in the documents (paper, Table II, "Answer Contradiction")."""

from scoring.claims.claim_extraction import claims
from scoring.claims.compared_values import compared_values
from scoring.figures.quantities import ValueAgreement
from scoring.text.prepared_text import PreparedExchange
from scoring.text.spans import MAX_EVIDENCE, span_evidence
from scoring.values.checked_claims import ClaimStatus
from scoring.values.exchange import FeatureValue
from scoring.values.rules import Rule, RuleEffect

CONTRADICTED_VALUE = "contradicted_value"

# Right wherever it was measured on rated answers, but in too few of them to block.
CONTRADICTED_VALUE_RULE = Rule(
    "contradicted_value",
    "The documents have another value at the place that the answer names.",
    RuleEffect.REVIEW,
    contradiction=0.9,
    status=ClaimStatus.CONTRADICTED,
    mistake="answer_contradiction",
)


class ValuesAgree:
    r"""Share of the claims that have the value of the documents, of those that lead to one place of these.

    A place is one cell of a table, one key of a list, or one sentence with all words of the claim
    (:func:`scoring.claims.compared_values.compared_values`). Other values are another number, amount, date or
    time of day, and a yes for a no: "the Pro plan is € 7" where its row says € 11, "Starter has an API" where
    the cell says no, "Twinfield is supported" where the page says that it is not. A claim that says more than
    that is left alone, and so is one that speaks of some cases only ("if", "only", "without"). The value is
    in [0, 1]; not applicable where no claim leads to one place.

    Evidence: ``contradicted_value``, each claim with another value.

    Measured on small help pages that were written for it (``tests/unit/scoring/data/contradictions.toml``):
    of 57 untrue claims on six pages that it was not mended on 53 are found, and of 82 true ones that are near
    to them none; on the six others 55 of 56, and none of 87. On 1,199 rated answers of six products (see
    ``training/rated``), handbooks with hardly a table: 3 in untrue answers, of which one by its number and
    two by a negation, none in true ones. With three fifths of the words, and not all, another negation was
    found in 1 untrue answer and in 3 true ones.

    >>> from scoring.text.prepared_text import PreparedPassage
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = PreparedPassage("d", text("Plans:\n\n- Basic: $10 a month\n- Team: $25 a month\n"))
    >>> answer = text("The Team plan costs $20 a month.")
    >>> exchange = PreparedExchange(text(""), answer, (document,))
    >>> [each.text for each in ValuesAgree().measure(exchange).evidence]
    ['The Team plan costs $20 a month']
    """

    name = "values_agree"
    uses_translation = False
    evidence_rules = ((CONTRADICTED_VALUE, CONTRADICTED_VALUE_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return claims with the documents' value / claims that lead to one."""
        found = exchange.cached(compared_values)
        if not found:
            return FeatureValue(self.name, None)
        others = [
            (claim.start, claim.end)
            for claim in exchange.answer.cached(claims)
            if claim.start in found and found[claim.start].agreement is ValueAgreement.DIFFERENT
        ]
        evidence = span_evidence(CONTRADICTED_VALUE, exchange.answer, others[:MAX_EVIDENCE])
        return FeatureValue(self.name, 1 - len(others) / len(found), evidence)
