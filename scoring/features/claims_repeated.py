"""Answers that repeat a section of a document (paper, V-B, "Verbatim Guide Defined")."""

from __future__ import annotations

from scoring.guides.quoting import quotation
from scoring.text.material import Material
from scoring.text.spans import span_evidence
from scoring.values.rules import Rule, Severity
from scoring.values.types import FeatureValue

REPEATED_ANSWER = "repeated_answer"

REPEATED = Rule(
    "repeated_answer",
    "The answer repeats a section of the documents, line for line.",
    Severity.SENDS,
)


class ClaimsRepeated:
    r"""Whether the answer repeats a section of the documents line for line, asked for what its heading says.

    The heuristic of the verbatim guide, for sections without steps (:func:`scoring.guides.quoting.quotation`
    has the conditions): in [0, 1], 1 where it is so, and otherwise not applicable, since an answer in its own
    words is no worse for it.

    Evidence: ``repeated_answer``, all of the answer.

    Measured on 1,000 rated answers of five products (see ``training/rated``), nearly all in their writers'
    own words: it holds for none of them. Looser rules (most words in order; all but stops and fillers; whole
    paragraphs of a section) held for a few, and for many that were made to deceive them: a stop moved,
    another case's section of the same heading, a promise in front of it.

    >>> from scoring.text.material import ContextText
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = ContextText("d", text("# Delete a draft\n\nYou can. Final ones stay."))
    >>> answers = text("You can. Final ones stay."), text("You can.")
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
        quoted = None if answer.source is not None else quotation(material)
        if quoted is None or quoted.is_guide:
            return FeatureValue(self.name, None)
        return FeatureValue(
            self.name, 1.0, span_evidence(REPEATED_ANSWER, answer, [(answer.start, answer.end)])
        )
