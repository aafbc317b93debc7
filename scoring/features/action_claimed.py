"""Actions that an answer claims (paper, Table II, "Non-appearing Statements")."""

from scoring.claims.claim_extraction import ClaimKind, claims
from scoring.claims.claimed_actions import claims_action
from scoring.features import Feature
from scoring.text.prepared_text import PreparedExchange
from scoring.text.spans import span_evidence
from scoring.values.checked_claims import ClaimStatus
from scoring.values.exchange import FeatureValue
from scoring.values.rules import Rule, RuleEffect

ACTION_CLAIMED = "action_claimed"

ACTION_CLAIMED_RULE = Rule(
    "action_claimed",
    "The answer says that its writer has done something for the customer, which no document can support.",
    RuleEffect.BLOCK,
    contradiction=0.9,
    status=ClaimStatus.NOT_FOUND,
    mistake="non_appearing_statement",
)


class ActionClaimed(Feature):
    """Whether the answer claims that its writer has done something: "I have reset your password".

    An answer made from documents cannot act, whatever the documents say. Found are sentences in the perfect
    tense with the writer as subject, and an opening such as "Done". Also found, where it was requested or
    affects the customer's possessions, are the simple past, what "we" have done, and a passive that opens the
    answer: "your invoice has been deleted" (:func:`scoring.claims.claimed_actions.claims_action`). Not found
    are what words alone can do ("I have looked that up", "I have made an overview": ``verbal_actions`` and
    ``verbal_results`` of the lexicon), questions, denials, conditions, names ("choose **I paid**"), and the
    future ("it will be deleted"). The value is in [0, 1]: 0 with such a sentence, otherwise not applicable,
    since its absence makes no answer truer.

    Evidence ``action_claimed``: the sentence.

    Measured on 1,199 rated answers on six products (see ``training/rated``), with which it was developed: it
    is found in 13 of 462 untrue answers, and in none of 566 true ones. With the writer's perfect tense and
    "done" alone it was 12, and on three other sets 5 of 201 untrue answers, and none of 247 true ones.

    >>> answers = "Done! I have deleted the invoice.", "I have not found how to delete it."
    >>> exchanges = [PreparedExchange.of_texts("Delete it.", answer) for answer in answers]
    >>> [ActionClaimed().measure(exchange).value for exchange in exchanges]
    [0.0, None]
    """

    name = ACTION_CLAIMED
    evidence_rules = ((ACTION_CLAIMED, ACTION_CLAIMED_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return 0 with the sentences that claim an action, or None without any."""
        answer, is_opening, spans = exchange.answer, True, []
        for index, claim in enumerate(answer.cached(claims)):
            if claim.kind in (ClaimKind.QUESTION, ClaimKind.REFUSAL):
                continue
            words = [answer.parse.text[n] for n in claim.tokens]
            is_done = index == 0 and answer.lexicon.claims.done.occurs_at_start(words)
            if is_done or claims_action(exchange, claim.tokens, is_opening):
                spans.append((claim.start, claim.end))
            elif claim.kind is ClaimKind.CLAIM:
                is_opening = False
        evidence = span_evidence(ACTION_CLAIMED, answer, spans)
        return FeatureValue(self.name, 0.0 if evidence else None, evidence)
