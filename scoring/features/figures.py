"""Numbers that no document has, counts and values that differ (paper, V-B and Table II)."""

from collections.abc import Iterator

from scoring.claims.claim_extraction import claims
from scoring.claims.compared_values import compared_values
from scoring.claims.grounding import derivable_figure_spans, figure_claims
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


REFUTED_FIGURE = "refuted_figure"

# Measured only on sentences made for it, so it does not block.
REFUTED_FIGURE_RULE = Rule(
    "refuted_figure",
    "The answer claims a figure that does not follow from the data of the documents.",
    RuleEffect.REVIEW,
    contradiction=0.7,
    status=ClaimStatus.CONTRADICTED,
    mistake="answer_contradiction",
)


class FiguresFollow(Feature):
    r"""Share of the counts of listed things that agree with the documents' tables and lists.

    "There are 4 plans" is compared with the rows of a list or table of plans
    (:func:`scoring.figures.figure_checking.check_clause`). The value is confirmed / (confirmed + refuted), in
    [0, 1]; not applicable where nothing could be counted. On 1,839 rated answers and the sample two were
    confirmed, none was refuted; totals, differences, shares and the like never came up, and are not computed.

    Evidence: ``refuted_figure``, each figure that does not follow.

    >>> document = "# Plans\n\nChoose a plan:\n\n- Basic\n- Team\n\nAsk us."
    >>> exchange = PreparedExchange.of_texts("", "There are 4 plans.", document)
    >>> FiguresFollow().measure(exchange).value
    0.0
    """

    name = "figures_follow"
    evidence_rules = ((REFUTED_FIGURE, REFUTED_FIGURE_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return confirmed counts / compared counts."""
        figures = exchange.cached(figure_claims)
        computed = [figure for figure in figures if figure.status is not ClaimStatus.NOT_CHECKABLE]
        if not computed:
            return FeatureValue(self.name, None)
        refuted = [(each.start, each.end) for each in computed if each.status is ClaimStatus.CONTRADICTED]
        evidence = span_evidence(REFUTED_FIGURE, exchange.answer, refuted)
        return FeatureValue(self.name, 1 - len(refuted) / len(computed), evidence)


CONTRADICTED_VALUE = "contradicted_value"

# Always right on the rated answers, but found in too few of them to block.
CONTRADICTED_VALUE_RULE = Rule(
    "contradicted_value",
    "The documents have another value at the position that the answer names.",
    RuleEffect.REVIEW,
    contradiction=0.9,
    status=ClaimStatus.CONTRADICTED,
    mistake="answer_contradiction",
)


class ValuesAgree(Feature):
    r"""Share of the claims that have the documents' value, among those that identify one position of these.

    A position is one cell of a table, one key of a list, or one sentence with all words of the claim
    (:func:`scoring.claims.compared_values.compared_values`). Values differ in a number, amount, date or time
    of day, or by a yes for a no: "the Pro plan is € 7" where its row says € 11, "Starter has an API" where
    the cell says no, "Twinfield is supported" where the page denies it. Claims that say more than that, or
    that are restricted to some cases ("if", "only", "without"), are not compared. The value is in [0, 1]; not
    applicable where no claim identifies a position.

    Evidence: ``contradicted_value``, each claim with another value.

    Measured on small help pages that were written for it (``tests/unit/scoring/data/contradictions.toml``):
    of 57 untrue claims on six held-out pages 53 are found, and of 82 similar true ones none; on the six
    others 55 of 56, and none of 87. On 1,199 rated answers of six products (see ``training/rated``),
    handbooks with hardly a table: 3 in untrue answers, of which one by its number and two by a negation, none
    in true ones. With three fifths of the words, and not all, another negation was found in 1 untrue answer
    and in 3 true ones.

    >>> document = "Plans:\n\n- Basic: $10 a month\n- Team: $25 a month\n"
    >>> exchange = PreparedExchange.of_texts("", "The Team plan costs $20 a month.", document)
    >>> [evidence.text for evidence in ValuesAgree().measure(exchange).evidence]
    ['The Team plan costs $20 a month']
    """

    name = "values_agree"
    evidence_rules = ((CONTRADICTED_VALUE, CONTRADICTED_VALUE_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return claims with the documents' value / compared claims."""
        values = exchange.cached(compared_values)
        if not values:
            return FeatureValue(self.name, None)
        different = [
            (claim.start, claim.end)
            for claim in exchange.answer.cached(claims)
            if claim.start in values and values[claim.start].status is ClaimStatus.CONTRADICTED
        ]
        evidence = span_evidence(CONTRADICTED_VALUE, exchange.answer, different)
        return FeatureValue(self.name, 1 - len(different) / len(values), evidence)
