"""Deeds that an answer lays claim to (paper, Table II, "Non-appearing Statements")."""

from collections.abc import Iterator, Sequence

from scoring.claims.claim_extraction import ClaimKind, claims
from scoring.claims.claimed_actions import claims_action
from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import span_evidence
from scoring.values.checked_claims import ClaimStatus
from scoring.values.exchange import FeatureValue
from scoring.values.rules import Rule, RuleEffect

ACTION_CLAIMED = "action_claimed"

ACTION_CLAIMED_RULE = Rule(
    "action_claimed",
    "The answer says that its writer has done something for the customer, which documents cannot bear out.",
    RuleEffect.BLOCK,
    contradiction=0.9,
    status=ClaimStatus.NOT_FOUND,
    mistake="non_appearing_statement",
)

_WITHOUT_ACTION = frozenset({ClaimKind.QUESTION, ClaimKind.REFUSAL})


class ActionClaimed:
    """Whether the answer says that its writer has done something: "I have reset your password".

    What answers from documents has no hands: nobody has reset anything, whatever the documents say. Found
    are sentences in the perfect tense in which the writer acts, and a sentence of "done" that opens the
    answer. So are, where it was asked for or is done to something of the customer's, the simple past, what
    "we" have done, and a passive that opens the answer: "your invoice has been deleted"
    (:func:`scoring.claims.claimed_actions.claims_action`). Not what a writer can do ("I have looked that up",
    "I have made an overview": ``deeds_of_words`` and ``works_of_words`` of the lexicon), nor questions,
    denials, conditions and names ("choose **I paid**"), and nothing that is still to be done ("it will be
    deleted"). The value is in [0, 1]: 0 where there is such a sentence, otherwise not applicable, since an
    answer is no truer for want of one.

    Evidence ``action_claimed``: the sentence.

    Measured on 1,199 rated answers on six products (see ``training/rated``), in view of which it was made: it
    holds for 13 of 462 untrue answers, and for none of 566 true ones. With the perfect tense of the writer
    and "done" alone it was 12, and on three other sets 5 of 201 untrue answers, and none of 247 true ones.

    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> answers = text("Done! I have deleted the invoice."), text("I have not found how to delete it.")
    >>> exchanges = [PreparedExchange(text("Delete it."), answer, ()) for answer in answers]
    >>> [ActionClaimed().measure(each).value for each in exchanges]
    [0.0, None]
    """

    name = ACTION_CLAIMED
    uses_translation = False
    evidence_rules = ((ACTION_CLAIMED, ACTION_CLAIMED_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return 0 with the sentences that claim a deed, or None without any."""
        answer = exchange.answer
        found = span_evidence(ACTION_CLAIMED, answer, _spans(exchange))
        return FeatureValue(self.name, 0.0 if found else None, found)


def _spans(exchange: PreparedExchange) -> Iterator[tuple[int, int]]:
    answer, opens = exchange.answer, True
    for place, claim in enumerate(answer.cached(claims)):
        if claim.kind in _WITHOUT_ACTION:
            continue
        if claims_action(exchange, claim.tokens, opens) or (not place and _says_done(answer, claim.tokens)):
            yield claim.start, claim.end
        elif claim.kind is ClaimKind.CLAIM:
            opens = False


def _says_done(answer: PreparedText, tokens: Sequence[int]) -> bool:
    return answer.lexicon.claims.done.occurs_at_start([answer.parse.text[n] for n in tokens])
