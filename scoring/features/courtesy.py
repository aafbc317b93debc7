"""Thanks and greetings that are returned where nothing is asked (paper, section VIII)."""

from __future__ import annotations

from scoring.text.courtesies import returns_courtesy
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


class Courtesy:
    """Whether a customer thanks or greets, and the answer does no more either.

    Greetings and closings are left out of what is compared; where nothing else is there, nothing can be
    untrue. The message is made of words of courtesy alone (``thanks`` and ``courtesies`` of the lexicon),
    denies nothing ("thanks, but that did not work") and is no question; the answer is nothing but sentences
    of a list, ``returned`` of the lexicon (:func:`scoring.text.courtesies.returns_courtesy`). The value is in
    [0, 1]: 1 where it is so, otherwise not applicable.

    Evidence: ``courtesy``, all of the answer.

    Looser rules let pass "You're welcome, and everything is free" (four words of any kind), or "You're
    welcome, we do that for you" (words of courtesy and small words).

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
        if not returns_courtesy(answer):
            return FeatureValue(self.name, None)
        return FeatureValue(self.name, 1.0, span_evidence(COURTESY, answer, [(answer.start, answer.end)]))


def _asks_nothing(message: PreparedText) -> bool:
    """Say whether a message, without its greeting and closing, holds words of courtesy alone."""
    lexicon = message.lexicon
    polite = lexicon.claims.thanks | lexicon.claims.courtesies
    words = message.word_texts
    if not words_of(message.original) or "?" in message.original:
        return False
    if words and polite.isdisjoint(words):
        return False
    return lexicon.negations.isdisjoint(words) and (polite | lexicon.function_words).issuperset(words)
