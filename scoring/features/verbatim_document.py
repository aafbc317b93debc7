"""Answers that are a published document (paper, V-B, "Verbatim Guide Defined")."""

from scoring.text.prepared_text import PreparedExchange
from scoring.text.spans import span_evidence
from scoring.values.exchange import FeatureValue
from scoring.values.rules import Rule, RuleEffect

VERBATIM_DOCUMENT = "verbatim_document"

VERBATIM_DOCUMENT_RULE = Rule(
    "verbatim_document",
    "The answer is a whole document marked `auto_send`, character for character; the question is its title.",
    RuleEffect.SEND,
)


class VerbatimDocument:
    """Whether the answer is the published document that the question names, marked to be sent.

    The paper's heuristic of the verbatim guide, as far as it is safe to send by; the conditions are those of
    :func:`scoring.quotation.quoted_document.quoted_document`. The value is in [0, 1]: 1 where it is so, and
    otherwise not applicable, since an answer in its own words is no worse for it.

    Evidence: ``verbatim_document``, all of the answer.

    Looser rules were tried: most words in order, all but stops and fillers, lines in plain text, the words
    of a heading in any form. Each held for few answers of 1,000 rated ones (see ``training/rated``), nearly
    all in their writers' own words, and for many that were made to deceive it. A rule without the mark, which
    looked at what documents say, sent answers that other pages take back, or that are for others.

    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> question, answer = text("How do I delete a draft?"), text("Click **Delete**.")
    >>> exchanges = [PreparedExchange(question, answer, (), quoted_document_id=d) for d in ("faq", None)]
    >>> [VerbatimDocument().measure(each).value for each in exchanges]
    [1.0, None]
    """

    name = VERBATIM_DOCUMENT
    uses_translation = False
    evidence_rules = ((VERBATIM_DOCUMENT, VERBATIM_DOCUMENT_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return 1 for an answer that is such a document, else None."""
        if exchange.quoted_document_id is None:
            return FeatureValue(self.name, None)
        answer = (exchange.whole_answer or exchange.answer).original
        span = len(answer) - len(answer.lstrip()), len(answer.rstrip())
        evidence = span_evidence(VERBATIM_DOCUMENT, exchange.answer, [span], exchange.quoted_document_id)
        return FeatureValue(self.name, 1.0, evidence)
