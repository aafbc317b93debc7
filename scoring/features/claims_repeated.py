"""Answers that repeat a section of a document (paper, V-B, "Verbatim Guide Defined")."""

from __future__ import annotations

from scoring.claims.repetition import repeats
from scoring.text.material import Material
from scoring.text.spans import span_evidence
from scoring.values.rules import Rule, Severity
from scoring.values.types import FeatureValue

REPEATED_ANSWER = "repeated_answer"

REPEATED = Rule(
    "repeated_answer",
    "The answer repeats a section of the documents almost word for word.",
    Severity.SENDS,
)


class ClaimsRepeated:
    r"""Whether the answer repeats a section of the documents, from its heading on, nearly word for word.

    The heuristic of the verbatim guide, for all that an answer says
    (:func:`scoring.claims.repetition.repeats` has the conditions): in [0, 1], 1 where it is so, and otherwise
    not applicable, since an answer in its own words is no worse for it.

    Evidence: ``repeated_answer``, all of the answer.

    Measured on 1,000 rated answers of five products (see ``training/rated``), nearly all in their writers'
    own words: it holds for none of them. A looser rule (most words in order, sentence by sentence) held for
    5 of 472 true answers and for no untrue one, and yet for nearly every answer that was made to deceive it:
    "on" for "off", a condition left out, the sentence of another case.

    >>> from scoring.text.material import ContextText
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = ContextText("d", text("# Invoices\n\nYou can delete a draft. Final ones stay."))
    >>> answers = text("You can just delete the draft. Final ones stay."), text("You can delete a draft.")
    >>> question = text("Can I delete a draft?")
    >>> [ClaimsRepeated().measure(Material(question, answer, (document,))).value for answer in answers]
    [1.0, None]
    """

    name = "claims_repeated"
    on_translation = False
    evidence = ((REPEATED_ANSWER, REPEATED),)

    def measure(self, material: Material) -> FeatureValue:
        """Return 1 for an answer that repeats the documents, else None."""
        # A translation can make two texts alike that are not, so only what came can repeat.
        answer = material.answer
        if answer.source is not None or not repeats(material):
            return FeatureValue(self.name, None)
        return FeatureValue(
            self.name, 1.0, span_evidence(REPEATED_ANSWER, answer, [(answer.start, answer.end)])
        )
