"""Deeds that an answer lays claim to (paper, Table II, "Non-appearing Statements")."""

from collections.abc import Iterator, Sequence

from scoring.claims.deeds import claims_a_deed
from scoring.claims.reading import Kind, claims
from scoring.text.prepared import Material, PreparedText
from scoring.text.spans import span_evidence
from scoring.values.claims import ClaimStatus
from scoring.values.rules import Rule, Severity
from scoring.values.types import FeatureValue

ACTION_CLAIMED = "action_claimed"

CLAIMED = Rule(
    "action_claimed",
    "The answer says that its writer has done something for the customer, which documents cannot bear out.",
    Severity.BLOCKS,
    contradiction=0.9,
    status=ClaimStatus.NOT_FOUND,
    mistake="non_appearing_statement",
)

_SAYS_NOTHING_OF_DEEDS = frozenset({Kind.QUESTION, Kind.REFUSAL})


class ActionClaimed:
    """Whether the answer says that its writer has done something: "I have reset your password".

    What answers from documents has no hands: nobody has reset anything, whatever the documents say. Found
    are sentences in the perfect tense in which the writer acts, and a sentence of "done" that opens the
    answer. So are, where it was asked for or is done to something of the customer's, the simple past, what
    "we" have done, and a passive that opens the answer: "your invoice has been deleted"
    (:func:`scoring.claims.deeds.claims_a_deed`). Not what a writer can do ("I have looked that up", "I have
    made an overview": ``deeds_of_words`` and ``works_of_words`` of the lexicon), nor questions, denials,
    conditions and names ("choose **I paid**"), and nothing that is still to be done ("it will be deleted").
    The value is in [0, 1]: 0 where there is such a sentence, otherwise not applicable, since an answer is no
    truer for want of one.

    Evidence ``action_claimed``: the sentence.

    Measured on 1,199 rated answers on six products (see ``training/rated``), in view of which it was made: it
    holds for 13 of 462 untrue answers, and for none of 566 true ones. With the perfect tense of the writer
    and "done" alone it was 12, and on three other sets 5 of 201 untrue answers, and none of 247 true ones.

    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> answers = text("Done! I have deleted the invoice."), text("I have not found how to delete it.")
    >>> [ActionClaimed().measure(Material(text("Delete it."), answer, ())).value for answer in answers]
    [0.0, None]
    """

    name = ACTION_CLAIMED
    on_translation = False
    evidence = ((ACTION_CLAIMED, CLAIMED),)

    def measure(self, material: Material) -> FeatureValue:
        """Return 0 with the sentences that claim a deed, or None without any."""
        answer = material.answer
        found = span_evidence(ACTION_CLAIMED, answer, _spans(material))
        return FeatureValue(self.name, 0.0 if found else None, found)


def _spans(material: Material) -> Iterator[tuple[int, int]]:
    answer, opens = material.answer, True
    for place, claim in enumerate(answer.derived(claims)):
        if claim.kind in _SAYS_NOTHING_OF_DEEDS:
            continue
        if claims_a_deed(material, claim.tokens, opens) or (not place and _says_done(answer, claim.tokens)):
            yield claim.start, claim.end
        elif claim.kind is Kind.CLAIM:
            opens = False


def _says_done(answer: PreparedText, tokens: Sequence[int]) -> bool:
    return answer.lexicon.claims.done.opens([answer.parse.text[n] for n in tokens])
