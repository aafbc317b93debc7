"""Answers that are a published guide (paper, V-B, "Verbatim Guide Defined")."""

from scoring.text.prepared import Material
from scoring.text.spans import span_evidence
from scoring.values.rules import Rule, Severity
from scoring.values.types import FeatureValue

VERBATIM_DOCUMENT = "verbatim_document"

VERBATIM = Rule(
    "verbatim_document",
    "The answer is a whole published guide, character for character, and the question is its title.",
    Severity.SENDS,
)


class VerbatimDocument:
    """Whether the answer is the published guide that the question names.

    The paper's heuristic of the verbatim guide, as far as it is safe to send by; the conditions are those of
    :func:`scoring.quotation.quoting.quoted_document`. The value is in [0, 1]: 1 where it is so, and otherwise
    not applicable, since an answer in its own words is no worse for it.

    Evidence: ``verbatim_document``, all of the answer.

    Looser rules were tried: most words in order, all but stops and fillers, lines in plain text, the words
    of a heading in any form. Each held for few answers of 1,000 rated ones (see ``training/rated``), nearly
    all in their writers' own words, and for many that were made to deceive it.

    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> question, answer = text("How do I delete a draft?"), text("Click **Delete**.")
    >>> [VerbatimDocument().measure(Material(question, answer, (), quoted=d)).value for d in ("faq", None)]
    [1.0, None]
    """

    name = VERBATIM_DOCUMENT
    on_translation = False
    evidence = ((VERBATIM_DOCUMENT, VERBATIM),)

    def measure(self, material: Material) -> FeatureValue:
        """Return 1 for an answer that is a guide, else None."""
        if material.quoted is None:
            return FeatureValue(self.name, None)
        answer = (material.whole_answer or material.answer).original
        span = len(answer) - len(answer.lstrip()), len(answer.rstrip())
        evidence = span_evidence(VERBATIM_DOCUMENT, material.answer, [span], material.quoted)
        return FeatureValue(self.name, 1.0, evidence)
