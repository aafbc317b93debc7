"""Thanks and greetings that are returned where nothing is asked (paper, section VIII)."""

import re
from collections.abc import Set as AbstractSet

from scoring.text.prepared_text import PreparedExchange
from scoring.text.spans import span_evidence
from scoring.values.exchange import FeatureValue
from scoring.values.rules import Rule, RuleEffect

COURTESY = "courtesy"

COURTESY_RULE = Rule(
    "courtesy",
    "The customer thanks or greets, and the answer returns it: both are made of sentences of a list.",
    RuleEffect.SEND,
    uses_documents=False,
)

_MOST_CHARACTERS = 300
# A question mark is part of its sentence, which is listed with it.
_SENTENCE_END = re.compile(r"(?<=\?)|[.!\n]")


class Courtesy:
    """Whether a customer thanks or greets, and the answer does no more either.

    The whole message and the whole answer are sentences of closed lists, ``[sending]`` of the lexicon, but
    for case, commas and the signs that end them; the answer's fit the message's: "you're welcome" returns
    thanks, "how can I help you?" a greeting. The value is in [0, 1]: 1 where it is so, otherwise not
    applicable.

    Evidence: ``courtesy``, all of the answer.

    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> answers = text("You're welcome. Good luck!"), text("You're welcome. Drafts are free.")
    >>> [Courtesy().measure(PreparedExchange(text("Great, thanks!"), answer, ())).value for answer in answers]
    [1.0, None]
    """

    name = COURTESY
    uses_translation = False
    evidence_rules = ((COURTESY, COURTESY_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return 1 for an exchange of courtesies, else None."""
        answer, words = exchange.answer, exchange.answer.lexicon.sending
        # A translation can turn what is said into a courtesy.
        if words is None or answer.source is not None:
            return FeatureValue(self.name, None)
        message = _sentences(exchange.question.original)
        # A "good evening" returns no "good morning".
        replies = words.replies | set(message)
        for said, returned in ((words.thanks, words.welcomes), (words.hellos, replies)):
            if _is_made_of(message, said) and _is_made_of(_sentences(answer.original), returned):
                span = (0, len(answer.original))
                return FeatureValue(self.name, 1.0, span_evidence(COURTESY, answer, [span]))
        return FeatureValue(self.name, None)


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text in lower case; none of a long one or of "Thanks..." and "Thanks!!"."""
    if len(text) > _MOST_CHARACTERS or ".." in text or "!!" in text:
        return []
    folded = text.lower().replace("’", "'")
    return [sentence for each in _SENTENCE_END.split(folded) if (sentence := each.strip())]


def _is_made_of(sentences: list[str], listed: AbstractSet[str]) -> bool:
    """Say whether there are sentences, and all are of a list."""
    return bool(sentences) and all(
        each.replace(",", "") in listed or listed >= set(each.split(", ")) for each in sentences
    )
