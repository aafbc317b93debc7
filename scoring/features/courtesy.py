"""Thanks and greetings that are returned (paper, section VIII)."""

import re
from collections.abc import Set as AbstractSet

from scoring.features import Feature
from scoring.quotation.quoted_document import is_visible
from scoring.text.prepared_text import PreparedExchange
from scoring.text.spans import span_evidence
from scoring.values.exchange import FeatureValue
from scoring.values.rules import Rule, RuleEffect

COURTESY = "courtesy"

COURTESY_RULE = Rule(
    "courtesy",
    "The customer thanks or greets, and the answer returns it: both consist of listed sentences.",
    RuleEffect.SEND,
    uses_documents=False,
)

_MAX_CHARACTERS = 300
# A question mark is part of its listed sentence.
_SENTENCE_END = re.compile(r"(?<=\?)|[.!\n]")


class Courtesy(Feature):
    """Whether the customer only thanks or greets, and the answer only returns it.

    The whole message and the whole answer consist of sentences of closed lists, ``[sending]`` of the lexicon,
    apart from case, commas and final punctuation, and the answer's match the message's: "you're welcome"
    returns thanks, "how can I help you?" a greeting. The value is in [0, 1]: 1 where it is so, otherwise not
    applicable.

    Evidence: ``courtesy``, the whole answer.

    >>> answers = "You're welcome. Good luck!", "You're welcome. Drafts are free."
    >>> exchanges = [PreparedExchange.of_texts("Great, thanks!", answer) for answer in answers]
    >>> [Courtesy().measure(exchange).value for exchange in exchanges]
    [1.0, None]
    """

    name = COURTESY
    evidence_rules = ((COURTESY, COURTESY_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return 1 for an exchange of courtesies, else None."""
        answer, words = exchange.answer, exchange.answer.lexicon.sending
        # A translation may turn a statement into a courtesy.
        if words is None or answer.source is not None:
            return FeatureValue(self.name, None)
        message = _sentences(exchange.question.original)
        # "Good morning" may be repeated, but not be returned by "good evening".
        replies = words.replies | set(message)
        for sent, returned in ((words.thanks, words.welcomes), (words.hellos, replies)):
            if _consists_of(message, sent) and _consists_of(_sentences(answer.original), returned):
                span = (0, len(answer.original))
                return FeatureValue(self.name, 1.0, span_evidence(COURTESY, answer, [span]))
        return FeatureValue(self.name, None)


def _sentences(text: str) -> list[str]:
    """Return the lowercase sentences of a text; none of a long or not visible one, or with "..." or "!!"."""
    if len(text) > _MAX_CHARACTERS or not is_visible(text) or ".." in text or "!!" in text:
        return []
    sentences = map(str.strip, _SENTENCE_END.split(text.lower().replace("’", "'")))
    return [sentence for sentence in sentences if sentence]


def _consists_of(sentences: list[str], listed: AbstractSet[str]) -> bool:
    """Return whether there are sentences, and all are listed."""
    return bool(sentences) and all(
        sentence.replace(", ", " ") in listed or listed >= set(sentence.split(", ")) for sentence in sentences
    )
