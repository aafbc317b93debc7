"""Thanks and greetings that are returned where nothing is asked (paper, section VIII)."""

from __future__ import annotations

from scoring.claims.reading import Claim, Kind, claims
from scoring.text.material import Material
from scoring.text.prepared import PreparedText, words_of
from scoring.text.spans import span_evidence
from scoring.values.rules import Rule, Severity
from scoring.values.types import FeatureValue

COURTESY = "courtesy"

RETURNED = Rule(
    "courtesy",
    "The customer thanks or greets, and the answer returns it without claiming anything.",
    Severity.SENDS,
)

_GREETING_WORDS = 3
# "Good luck with your new system"; one that says more may claim something.
_MOST_OTHERS = 4
_SAYS_NOTHING = frozenset({Kind.COURTESY, Kind.QUESTION})


class Courtesy:
    """Whether a customer thanks or greets, and the answer does no more either.

    Greetings and closings are left out of what is compared; where nothing else is there, nothing can be
    untrue. The message is made of words of courtesy alone (``thanks`` and ``courtesies`` of the lexicon),
    denies nothing ("thanks, but that did not work") and is no question; every sentence of the answer is a
    greeting, a wish, an offer of help or a question (:class:`scoring.claims.reading.Kind`). The value is in
    [0, 1]: 1 where it is so, otherwise not applicable.

    Evidence: ``courtesy``, all of the answer.

    Measured on 1,199 rated answers on six products (see ``training/rated``), in view of which it was made: it
    holds for 9 of 566 true answers, and for no other.

    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> answers = text("You're welcome, good luck with it!"), text("You can also delete drafts.")
    >>> [Courtesy().measure(Material(text("Great, thanks!"), answer, ())).value for answer in answers]
    [1.0, None]
    """

    name = COURTESY
    on_translation = False
    evidence = ((COURTESY, RETURNED),)

    def measure(self, material: Material) -> FeatureValue:
        """Return 1 for an exchange of courtesies, else None."""
        answer = material.whole_answer or material.answer
        # A translation can turn what is said into a courtesy.
        if answer.source is not None or not answer.words or not _asks_nothing(material.question):
            return FeatureValue(self.name, None)
        # All of the answer: what is taken for its closing elsewhere may claim something as well.
        if not all(_claims_nothing(answer, each) for each in answer.derived(claims)):
            return FeatureValue(self.name, None)
        return FeatureValue(self.name, 1.0, span_evidence(COURTESY, answer, [(answer.start, answer.end)]))


def _claims_nothing(answer: PreparedText, claim: Claim) -> bool:
    """Say whether a sentence is a greeting, or a courtesy or question that hardly says anything besides."""
    lexicon, said = answer.lexicon, tuple(answer.parse.text[n] for n in claim.tokens)
    if len(said) <= _GREETING_WORDS and any(first == 0 for first, _ in lexicon.greetings.find(said, (0,))):
        return True
    courteous = lexicon.claims.thanks | lexicon.claims.courtesies
    others = sum(courteous.isdisjoint(word.forms) for word in claim.words)
    return claim.kind in _SAYS_NOTHING and others <= _MOST_OTHERS


def _asks_nothing(message: PreparedText) -> bool:
    """Say whether a message, without its greeting and closing, holds words of courtesy alone."""
    lexicon = message.lexicon
    empty = lexicon.claims.thanks | lexicon.claims.courtesies | lexicon.function_words
    words = message.word_texts
    if not words_of(message.original) or "?" in message.original:
        return False
    return lexicon.negations.isdisjoint(words) and empty.issuperset(words)
