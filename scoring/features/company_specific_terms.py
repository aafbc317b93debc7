"""Words of the company's own language in the answer (paper, V-B, "Company-Specific Terms")."""

from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import span_evidence
from scoring.values.exchange import FeatureValue

COMPANY_TERM = "company_term"

# From this share of company terms on an answer speaks the company's language for certain. It is half-way
# between help documents that the terms were not built from (.30 to .46) and those of another product
# (.10 to .14); newspaper text has .01.
FULL_TERM_SHARE = 0.2


class CompanySpecificTerms:
    """How sure it is, by its share of company terms, that the answer speaks the company's language.

    Heuristic of the paper: an answer in general terms only ("General Answer") is less likely true;
    one in the words of the company's documentation is more so.

    Parameters: the terms of the answer's language in ``Material.company_terms`` (see
    :mod:`scoring.company_terms.term_extraction`). The value is in [0, 1]: (distinct terms / distinct content
    words of the answer) / 0.2, at most 1. Beyond that more terms do not make an answer truer: many a
    wrong answer is a menu path and little else, and many a true one explains. (On the development
    answers the plain share's Spearman is -.1 to -.2; that of the score is .34 in Dutch and .43 in
    English with 0.2, and .29 and .41 with 0.3.) Content words are those that are neither function words
    of the language nor numbers nor single letters. Not applicable without terms of the language, or
    where the answer has no content word.

    Evidence: ``company_term``, the first place of each term in the answer.

    >>> from scoring.lexicon import load_shipped
    >>> texts = [PreparedText.of(text, load_shipped()["en"]) for text in ("How?", "Open the payslip page.")]
    >>> material = PreparedExchange(*texts, context=(), company_terms=frozenset({"payslip"}))
    >>> value = CompanySpecificTerms().measure(material)
    >>> value.value, [evidence.text for evidence in value.evidence]
    (1.0, ['payslip'])
    """

    name = "company_terms"
    uses_translation = False
    evidence_rules = ((COMPANY_TERM, None),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return the share of company terms, measured against a share that is certain."""
        words = exchange.answer.cached(first_content_word_spans)
        if not exchange.company_terms or not words:
            return FeatureValue(self.name, None)
        places = [place for word, place in words.items() if word in exchange.company_terms]
        share = len(places) / len(words)
        evidence = span_evidence(COMPANY_TERM, exchange.answer, places)
        return FeatureValue(self.name, min(share / FULL_TERM_SHARE, 1.0), evidence)


def first_content_word_spans(text: PreparedText) -> dict[str, tuple[int, int]]:
    """Return the distinct content words of a text in order, each with its first place."""
    places: dict[str, tuple[int, int]] = {}
    for word in text.words:
        if _has_content(word.text) and word.text not in text.lexicon.function_words:
            places.setdefault(word.text, (word.start, word.end))
    return places


def _has_content(word: str) -> bool:
    return len(word) > 1 and not any(map(str.isdigit, word))
