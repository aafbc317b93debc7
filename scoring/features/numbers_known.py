"""Numbers that no document has (paper, V-B, "Components Defined", after its check of precise numbers)."""

from collections.abc import Iterator

from scoring.claims.grounding import derivable_figure_spans
from scoring.figures.number_derivation import DerivableNumbers
from scoring.figures.number_readings import NumberReading, number_readings, number_spans
from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import MAX_EVIDENCE, span_evidence
from scoring.values.checked_claims import ClaimStatus
from scoring.values.exchange import FeatureValue
from scoring.values.rules import Rule, RuleEffect

UNKNOWN_NUMBER = "unknown_number"

DERIVED_NUMBER = "derived_number"

UNKNOWN_NUMBER_RULE = Rule(
    "unknown_number",
    "The answer names a number in digits, not in words, that neither documents nor question have.",
    RuleEffect.BLOCK,
    contradiction=0.9,
    status=ClaimStatus.NOT_FOUND,
    mistake="non_appearing_statement",
)

DERIVED_NUMBER_RULE = Rule(
    "derived_number",
    "The answer names a number that one computation on those of the documents or the question gives.",
    RuleEffect.REVIEW,
    contradiction=0.4,
    status=ClaimStatus.NOT_CHECKABLE,
)


class NumbersKnown:
    """Share of the answer's numbers that the documents or the question have, wherever they stand.

    Heuristic: non-appearing statements. Numbers in digits are looked for, those of steps are not, and each is
    known where documents or question have what it may be by any reading of it: in digits or words, with
    commas and stops as either language sets them, as a time of day however that is told, in another unit of
    the same kind (:func:`scoring.figures.number_readings.number_readings`). One that follows from the
    documents' data (``figures_follow``) is known too, and one that may follow from them though it cannot be
    computed is not taken for unknown. The value is known / all, in [0, 1]; not applicable where the answer
    has none.

    Evidence: ``unknown_number``, each that stands nowhere; ``derived_number``, each that stands nowhere and
    that one plain computation gives (:class:`scoring.figures.number_derivation.DerivableNumbers`), so that a
    person decides.

    Measured on the 1,199 rated answers of six products (see ``training/rated``), untrue : true : rated 3:
    unknown 32 : 2 : 12 and derived 6 : 1 : 4; with one form of each number unknown were 37 : 2 : 17. Of 192
    true and 83 untrue short answers that were written for it, it blocked 1 and 62, and before 81 and 63
    (``tests/unit/scoring/data/numbers.toml``).

    >>> from scoring.text.prepared_text import PreparedPassage
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = PreparedPassage("d", text("The link works for two days, at most 1,500 times."))
    >>> answer = text("It works for 2 days, 1500 times, and costs 3 euros.")
    >>> value = NumbersKnown().measure(PreparedExchange(text(""), answer, (document,)))
    >>> [evidence.text for evidence in value.evidence]
    ['3']
    """

    name = "numbers_known"
    uses_translation = False
    evidence_rules = ((UNKNOWN_NUMBER, UNKNOWN_NUMBER_RULE), (DERIVED_NUMBER, DERIVED_NUMBER_RULE))

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return known numbers / numbers."""
        answer = exchange.answer
        spans = list(number_spans(answer, answer.start, answer.end))
        if not spans:
            return FeatureValue(self.name, None)
        texts = (exchange.question, *(document.text for document in exchange.context))
        told = [
            reading for text in texts for reading in text.cached(number_readings) if not reading.is_tentative
        ]
        known = {reading.key for reading in told}
        computed = exchange.cached(derivable_figure_spans)
        strange = [
            span
            for span in spans
            if known.isdisjoint(reading.key for reading in _readings_of(span, answer))
            and not any(start <= span[0] and span[1] <= end for start, end in computed)
        ]
        derived = _derived_spans(strange[:MAX_EVIDENCE], exchange) if strange else []
        unknown = [span for span in strange if span not in derived]
        evidence = (
            *span_evidence(UNKNOWN_NUMBER, answer, unknown[:MAX_EVIDENCE]),
            *span_evidence(DERIVED_NUMBER, answer, derived),
        )
        return FeatureValue(self.name, 1 - len(strange) / len(spans), evidence)


def _derived_spans(unmatched: list[tuple[int, int]], exchange: PreparedExchange) -> list[tuple[int, int]]:
    """Return what follows, also from what was found to: a total may stand before its parts."""
    derivable, derived = DerivableNumbers(exchange), []
    while found := [
        span
        for span in unmatched
        if span not in derived and derivable.is_derivable([*_readings_of(span, exchange.answer)])
    ]:
        derived += found
    return sorted(derived)


def _readings_of(span: tuple[int, int], answer: PreparedText) -> Iterator[NumberReading]:
    return (each for each in answer.cached(number_readings) if each.start <= span[0] and span[1] <= each.end)
