"""Numbers that no document has (paper, V-B, "Components Defined", after its check of precise numbers)."""

from collections.abc import Iterator

from scoring.claims.grounding import derivable_figure_spans
from scoring.features import Feature
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


class NumbersKnown(Feature):
    """Share of the answer's numbers that the documents or the question have.

    Heuristic: "Non-appearing Statements". Checked are numbers in digits, except those of steps. Each is known
    where documents or question have it in any reading: in digits or words, with commas and stops as in either
    language, as a time of day in any notation, in another unit of the same kind
    (:func:`scoring.figures.number_readings.number_readings`). One that follows from the documents' data
    (``figures_follow``), or that may follow but cannot be computed, is known too. The value is known / all,
    in [0, 1]; not applicable without numbers.

    Evidence: ``unknown_number`` for a number without any source; ``derived_number``, which only sends
    the answer to review, for one that a single plain computation gives
    (:class:`scoring.figures.number_derivation.DerivableNumbers`).

    Measured on the 1,199 rated answers of six products (see ``training/rated``), untrue : true : rated 3:
    unknown 32 : 2 : 12 and derived 6 : 1 : 4; with a single reading of each number unknown were 37 : 2 : 17.
    Of 192 true and 83 untrue short answers that were written for it, it blocks 1 and 62, and with a single
    reading 81 and 63 (``tests/unit/scoring/data/numbers.toml``).

    >>> document = "The link works for two days, at most 1,500 times."
    >>> answer = "It works for 2 days, 1500 times, and costs 3 euros."
    >>> value = NumbersKnown().measure(PreparedExchange.of_texts("", answer, document))
    >>> [evidence.text for evidence in value.evidence]
    ['3']
    """

    name = "numbers_known"
    evidence_rules = ((UNKNOWN_NUMBER, UNKNOWN_NUMBER_RULE), (DERIVED_NUMBER, DERIVED_NUMBER_RULE))

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return known numbers / numbers."""
        answer = exchange.answer
        spans = list(number_spans(answer, answer.start, answer.end))
        if not spans:
            return FeatureValue(self.name, None)
        texts = (exchange.question, *(document.text for document in exchange.context))
        known = {
            reading.key
            for text in texts
            for reading in text.cached(number_readings)
            if not reading.is_tentative
        }
        computed = exchange.cached(derivable_figure_spans)
        unmatched = [
            span
            for span in spans
            if known.isdisjoint(reading.key for reading in _readings(span, answer))
            and not any(start <= span[0] and span[1] <= end for start, end in computed)
        ]
        derived = _derived_spans(unmatched[:MAX_EVIDENCE], exchange) if unmatched else []
        unknown = [span for span in unmatched if span not in derived]
        evidence = (
            *span_evidence(UNKNOWN_NUMBER, answer, unknown[:MAX_EVIDENCE]),
            *span_evidence(DERIVED_NUMBER, answer, derived),
        )
        return FeatureValue(self.name, 1 - len(unmatched) / len(spans), evidence)


def _derived_spans(unmatched: list[tuple[int, int]], exchange: PreparedExchange) -> list[tuple[int, int]]:
    """Return the numbers that a computation gives, also from derived ones: a total may precede its parts."""
    derivable, derived = DerivableNumbers(exchange), list[tuple[int, int]]()
    while added := [
        span
        for span in unmatched
        if span not in derived and derivable.is_derivable([*_readings(span, exchange.answer)])
    ]:
        derived += added
    return sorted(derived)


def _readings(span: tuple[int, int], answer: PreparedText) -> Iterator[NumberReading]:
    return (each for each in answer.cached(number_readings) if each.start <= span[0] and span[1] <= each.end)
