"""Words of the answer: signal words, words of the question, the company's terms (paper, V-B)."""

from scoring.features import Feature
from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import content_stems, first_stem_spans, span_evidence
from scoring.values.exchange import FeatureValue

_SIGNAL_KINDS = ("perspective", "comparison", "example", "reasoning")


class ComplexAnswer(Feature):
    """Share of the four kinds of signal words that the answer uses.

    Heuristic: "Complex Answer"; one that reasons, compares or gives examples says more than a vague one. The
    kinds are perspective, comparison, example and reasoning; one word of a kind is enough, and its first
    occurrence is the evidence, such as ``reasoning_signal``. The value is in [0, 1], in steps of a quarter;
    not applicable to an answer without words.

    >>> value = ComplexAnswer().measure(PreparedExchange.of_texts("Can I?", "No, because it is closed."))
    >>> value.value, [(evidence.kind, evidence.text) for evidence in value.evidence]
    (0.25, [('reasoning_signal', 'because')])
    """

    name = "complex_answer"
    evidence_rules = tuple((f"{kind}_signal", None) for kind in _SIGNAL_KINDS)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return kinds that occur / 4."""
        answer = exchange.answer
        if not answer.words:
            return FeatureValue(self.name, None)
        phrases = answer.lexicon.features[self.name]
        evidence = tuple(
            found
            for kind in _SIGNAL_KINDS
            for first, end in [*phrases[kind].find(answer.word_texts)][:1]
            for found in span_evidence(
                f"{kind}_signal", answer, [(answer.words[first].start, answer.words[end - 1].end)]
            )
        )
        return FeatureValue(self.name, len(evidence) / len(_SIGNAL_KINDS), evidence)


QUESTION_WORD = "question_word"


class PromptOverlap(Feature):
    """Share of the question's distinct content words that the answer repeats.

    Heuristic: "Prompt Overlap". Words are compared without plural endings. The value is in [0, 1]; not
    applicable where the question has no content word ("Can I?") or the answer no word. Evidence
    ``question_word``: the first occurrence of each word in the answer.

    >>> PromptOverlap().measure(PreparedExchange.of_texts("Can I copy schedules?", "Copy it.")).value
    0.5
    """

    name = "prompt_overlap"
    evidence_rules = ((QUESTION_WORD, None),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return repeated content words / content words of the question."""
        stems = exchange.question.cached(content_stems)
        if not stems or not exchange.answer.words:
            return FeatureValue(self.name, None)
        spans = exchange.answer.cached(first_stem_spans)
        repeated = sorted(spans[stem] for stem in stems if stem in spans)
        evidence = span_evidence(QUESTION_WORD, exchange.answer, repeated)
        return FeatureValue(self.name, len(repeated) / len(stems), evidence)


COMPANY_TERM = "company_term"

# The share of company terms from which an answer is certain to use the company's language. It is half-way
# between help documents from which the terms were not extracted (.30 to .46) and those of another product
# (.10 to .14); newspaper text has .01.
FULL_TERM_SHARE = 0.2


class CompanySpecificTerms(Feature):
    """How certainly the answer uses the company's own language, by its share of company terms.

    Heuristic: "Company-Specific Terms"; an answer in general terms only is less likely true. The value is in
    [0, 1]: (distinct terms / distinct content words of the answer) / 0.2, at most 1, with the terms of
    :mod:`scoring.company_terms.term_extraction`. More terms do not make an answer truer: many a wrong answer
    is hardly more than a menu path, and many a true one explains. (On the development answers the plain
    share's Spearman is -.1 to -.2; that of the score is .34 in Dutch and .43 in English with 0.2, and .29 and
    .41 with 0.3.) Content words are neither function words nor numbers nor single letters. Not applicable
    without terms of the language or without content words.

    Evidence: ``company_term``, the first occurrence of each term.

    >>> from dataclasses import replace
    >>> exchange = PreparedExchange.of_texts("How?", "Open the payslip page.")
    >>> value = CompanySpecificTerms().measure(replace(exchange, company_terms=frozenset({"payslip"})))
    >>> value.value, [evidence.text for evidence in value.evidence]
    (1.0, ['payslip'])
    """

    name = "company_terms"
    evidence_rules = ((COMPANY_TERM, None),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return share of company terms / the share that is certain."""
        words = exchange.answer.cached(first_content_word_spans)
        if not exchange.company_terms or not words:
            return FeatureValue(self.name, None)
        spans = [span for word, span in words.items() if word in exchange.company_terms]
        evidence = span_evidence(COMPANY_TERM, exchange.answer, spans)
        return FeatureValue(self.name, min(len(spans) / len(words) / FULL_TERM_SHARE, 1.0), evidence)


def first_content_word_spans(text: PreparedText) -> dict[str, tuple[int, int]]:
    """Return the distinct content words of a text in order, each with its first span."""
    spans: dict[str, tuple[int, int]] = {}
    for word in text.words:
        is_term = len(word.text) > 1 and not any(map(str.isdigit, word.text))
        if is_term and word.text not in text.lexicon.function_words:
            spans.setdefault(word.text, (word.start, word.end))
    return spans
