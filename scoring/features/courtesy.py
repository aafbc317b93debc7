"""Thanks and greetings that are returned where nothing is asked (paper, section VIII)."""

from __future__ import annotations

from scoring.text.courtesies import mere_courtesies, without
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

# "Good luck with your new system"; one that says more may claim something.
_MOST_WISHED = 2


class Courtesy:
    """Whether a customer thanks or greets, and the answer does no more either.

    Greetings and closings are left out of what is compared; where nothing else is there, nothing can be
    untrue. The message is made of words of courtesy alone (``thanks`` and ``courtesies`` of the lexicon),
    denies nothing ("thanks, but that did not work") and is no question; the answer is nothing but sentences
    of mere courtesy (:func:`scoring.text.courtesies.mere_courtesies`). The value is in [0, 1]: 1 where it is
    so, otherwise not applicable.

    Evidence: ``courtesy``, all of the answer.

    Measured on 1,000 rated answers on five products (see ``training/rated``): it holds for 2 of 472 true
    answers, and for no other. A looser rule, which let pass four words of any kind, held for 9, and for
    "You're welcome, and everything is free".

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
        polite = mere_courtesies(answer, material.question.word_texts, _MOST_WISHED)
        if without(answer.original, polite).strip():
            return FeatureValue(self.name, None)
        return FeatureValue(self.name, 1.0, span_evidence(COURTESY, answer, [(answer.start, answer.end)]))


def _asks_nothing(message: PreparedText) -> bool:
    """Say whether a message, without its greeting and closing, holds words of courtesy alone."""
    lexicon = message.lexicon
    empty = lexicon.claims.thanks | lexicon.claims.courtesies | lexicon.function_words
    words = message.word_texts
    if not words_of(message.original) or "?" in message.original:
        return False
    return lexicon.negations.isdisjoint(words) and empty.issuperset(words)
