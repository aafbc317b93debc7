"""An error code that is explained as another one (paper, IV-C.2, "Error Mismatch", and Table II)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scoring.text.error_codes import ErrorCode, error_codes
from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import content_stems, first_stem_spans, span_evidence
from scoring.values.checked_claims import ClaimStatus
from scoring.values.exchange import FeatureValue
from scoring.values.rules import Rule, RuleEffect

ERROR_MISMATCH = "error_mismatch"

ERROR_MISMATCH_RULE = Rule(
    "error_mismatch",
    "The answer explains another error code than the one that was asked about.",
    RuleEffect.BLOCK,
    contradiction=0.9,
    status=ClaimStatus.CONTRADICTED,
    mistake="error_mismatch",
)

# Of another code's explanation: so many words and so many times those of the right one, or, where
# explanations are short, none of the right one and this share of the other's.
_FEWEST_WORDS = 3
_TIMES = 3
_SHARE = 0.5


class ErrorMismatch:
    r"""Whether the answer explains the error code that was asked about as the documents explain it.

    The heuristic: untrue answers mix up error codes and their solutions, as *"I got error 404"*
    answered with what 403 means. The explanation of a code is the paragraph or list item that it
    stands in, up to the next code. Words that only one of two explanations has tell which of them
    an answer rests on; words of the question tell nothing. The value is the share of such words in
    the answer that are the right code's, in [0, 1]: 1 where it explains the code asked about, 0
    where it explains another. Not applicable where the question names no code, the documents do
    not explain it, they explain no other, or the answer has words of neither.

    Evidence ``error_mismatch``: the words of the answer that explain another code, where there are
    at least three and three times as many as of the right one, or none of the right one and half of
    the other's.

    Measured on the development answers to the questions that name a code of two: evidence in 2 of 3
    untrue answers and in none of 2 true ones, in Dutch and in English alike. Too few to say more; a
    paraphrase without any word of the documents is not noticed.

    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedPassage
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> codes = text("- **404**: the page does not exist.\n- **403**: you are not allowed to see it.")
    >>> answer = text("It means that you are not allowed to see it.")
    >>> exchange = PreparedExchange(text("I got error 404"), answer, (PreparedPassage("d", codes),))
    >>> ErrorMismatch().measure(exchange).value
    0.0
    """

    name = "error_mismatch"
    uses_translation = False
    evidence_rules = ((ERROR_MISMATCH, ERROR_MISMATCH_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return right words / (right words + words of the other code that has most of them)."""
        asked = {found.code for found in exchange.question.cached(error_codes)}
        explained = _explanations(exchange)
        own = frozenset[str]().union(*(explained[code].stems for code in asked if code in explained))
        others = [explanation for code, explanation in explained.items() if code not in asked]
        if not own or not others:
            return FeatureValue(self.name, None)
        return self._compared(exchange, own, others)

    def _compared(
        self, exchange: PreparedExchange, own: frozenset[str], others: list[CodeExplanation]
    ) -> FeatureValue:
        said = exchange.answer.cached(content_stems) - exchange.question.cached(content_stems)
        other = max(others, key=lambda other: len(said & (other.stems - own)))
        right, wrong = said & (own - other.stems), said & (other.stems - own)
        if not right and not wrong:
            return FeatureValue(self.name, None)
        value = len(right) / (len(right) + len(wrong))
        if not _is_mismatch(len(right), len(wrong), len(other.stems - own)):
            return FeatureValue(self.name, value)
        places = exchange.answer.cached(first_stem_spans)
        spans = sorted(places[stem] for stem in wrong)
        evidence = span_evidence(ERROR_MISMATCH, exchange.answer, spans, other.document_id)
        return FeatureValue(self.name, value, evidence)


def _is_mismatch(right: int, wrong: int, of_other: int) -> bool:
    if right == 0 and wrong >= _SHARE * of_other:
        return True
    return wrong >= max(_FEWEST_WORDS, _TIMES * right)


@dataclass(frozen=True, slots=True)
class CodeExplanation:
    """What a document says of an error code: its content words."""

    stems: frozenset[str]
    document_id: str


def _explanations(exchange: PreparedExchange) -> Mapping[str, CodeExplanation]:
    found: dict[str, CodeExplanation] = {}
    for document in exchange.context:
        for code, stems in document.text.cached(explained_codes).items():
            known = found.get(code)
            found[code] = CodeExplanation(
                stems | (known.stems if known else frozenset()), document.document_id
            )
    return found


def explained_codes(text: PreparedText) -> Mapping[str, frozenset[str]]:
    """Return the content words of the explanation of every error code of a text."""
    stems: defaultdict[str, set[str]] = defaultdict(set)
    for code, start, end in _explanation_spans(text):
        stems[code] |= content_stems(text.part(start, end))
    return {code: frozenset(words - {code}) for code, words in stems.items()}


def _explanation_spans(text: PreparedText) -> Iterator[tuple[str, int, int]]:
    codes = error_codes(text)
    for index, found in enumerate(codes):
        start = found.end
        if index == 0 or "\n" in text.original[codes[index - 1].end : found.start]:
            start = text.original.rfind("\n", text.start, found.start) + 1
        limit = codes[index + 1].start if index + 1 < len(codes) else text.end
        yield found.code, start, _end_of_paragraph(text, found, limit)


def _end_of_paragraph(text: PreparedText, found: ErrorCode, limit: int) -> int:
    end = text.original.find("\n\n", found.end, limit)
    return limit if end < 0 else end
