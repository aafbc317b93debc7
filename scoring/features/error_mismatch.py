"""An error code that is explained as another one (paper, IV-C.2, "Error Mismatch", and Table II)."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from scoring.features import Feature
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

# Evidence needs so many words of another code's explanation, and so many times those of the right one; or,
# where explanations are short, none of the right one and this share of the other's.
_MIN_WORDS = 3
_MIN_RATIO = 3
_MIN_SHARE = 0.5


class ErrorMismatch(Feature):
    r"""Whether the answer explains the error code of the question as the documents explain it.

    Heuristic: untrue answers mix up error codes and their solutions, as *"I got error 404"* answered with the
    meaning of 403. The explanation of a code is the paragraph or list item that contains it, up to the next
    code. Words that only one of two explanations has show which of them an answer uses; words of the question
    show nothing. The value is the right code's share of such words in the answer, in [0, 1]: 1 where it
    explains the code of the question, 0 where it explains another. Not applicable where the question names no
    code, the documents do not explain it, they explain no other, or the answer has words of neither.

    Evidence ``error_mismatch``: the words of the answer that explain another code, where there are at least
    three and three times as many as of the right one, or none of the right one and half of the other's.

    Measured on the development answers to the questions that name a code of two: evidence in 2 of 3 untrue
    answers and in none of 2 true ones, in Dutch and in English alike, which is too few to say more. A
    paraphrase without any word of the documents is not found.

    >>> codes = "- **404**: the page does not exist.\n- **403**: you are not allowed to see it."
    >>> answer = "It means that you are not allowed to see it."
    >>> ErrorMismatch().measure(PreparedExchange.of_texts("I got error 404", answer, codes)).value
    0.0
    """

    name = "error_mismatch"
    evidence_rules = ((ERROR_MISMATCH, ERROR_MISMATCH_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return right words / (right words + words of the other code that has most of them)."""
        codes = {error.code for error in exchange.question.cached(error_codes)}
        explanations = _explanations(exchange)
        own = frozenset[str]().union(*(explanations[code].stems for code in codes if code in explanations))
        others = [explanation for code, explanation in explanations.items() if code not in codes]
        if not own or not others:
            return FeatureValue(self.name, None)
        stems = exchange.answer.cached(content_stems) - exchange.question.cached(content_stems)
        other = max(others, key=lambda other: len(stems & (other.stems - own)))
        right, wrong = stems & (own - other.stems), stems & (other.stems - own)
        if not right and not wrong:
            return FeatureValue(self.name, None)
        value = len(right) / (len(right) + len(wrong))
        is_other = not right and len(wrong) >= _MIN_SHARE * len(other.stems - own)
        if not is_other and len(wrong) < max(_MIN_WORDS, _MIN_RATIO * len(right)):
            return FeatureValue(self.name, value)
        first_spans = exchange.answer.cached(first_stem_spans)
        spans = sorted(first_spans[stem] for stem in wrong)
        evidence = span_evidence(ERROR_MISMATCH, exchange.answer, spans, other.document_id)
        return FeatureValue(self.name, value, evidence)


@dataclass(frozen=True, slots=True)
class CodeExplanation:
    """The content words of a document's explanation of an error code."""

    stems: frozenset[str]
    document_id: str


def _explanations(exchange: PreparedExchange) -> Mapping[str, CodeExplanation]:
    explanations: dict[str, CodeExplanation] = {}
    for document in exchange.context:
        for code, stems in document.text.cached(explained_codes).items():
            previous = explanations[code].stems if code in explanations else frozenset[str]()
            explanations[code] = CodeExplanation(stems | previous, document.document_id)
    return explanations


def explained_codes(text: PreparedText) -> Mapping[str, frozenset[str]]:
    """Return the content words of the explanation of every error code of a text."""
    stems: defaultdict[str, set[str]] = defaultdict(set)
    errors = error_codes(text)
    for index, error in enumerate(errors):
        start = error.end
        if index == 0 or "\n" in text.original[errors[index - 1].end : error.start]:
            start = text.original.rfind("\n", text.start, error.start) + 1
        limit = errors[index + 1].start if index + 1 < len(errors) else text.end
        paragraph_end = text.original.find("\n\n", error.end, limit)
        end = limit if paragraph_end < 0 else paragraph_end
        stems[error.code] |= content_stems(text.part(start, end))
    return {code: frozenset(words - {code}) for code, words in stems.items()}


# A vendor's code, a hexadecimal code, or a number that may be one; the same in every language.
_SHAPE = re.compile(
    r"(?<![\w-])(?:[A-Za-z]{1,5}-\d{3,6}|0x[0-9A-Fa-f]{4,8}|(?<!\d[.,])(?P<number>\d{3,5}))(?![\w-]|[.,]\d)"
)
# A noun before the number, or a list item that starts with the number and explains it.
_BEFORE = 24
_NOUN = re.compile(rf"([^\W\d_]{{1,{_BEFORE}}}):?[ \t]{{1,2}}[*_`]{{0,3}}\Z")
_OPENS_LINE = re.compile(r"\n[ \t]{0,8}[-+*•#|]{0,3}[ \t]{0,4}[*_`]{0,3}\Z")
_EXPLAINS = re.compile(r"[*_`]{0,3}[ \t]{0,2}[:=|–—-]|[ \t][^\n*_]{1,60}[*_]")


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A casefolded error code and its span in the original text."""

    code: str
    start: int
    end: int


def error_codes(text: PreparedText) -> tuple[ErrorCode, ...]:
    """Return the error codes of a text, in order.

    A bare number is one after a word of the lexicon's ``error_nouns`` ("error 404"), or where it starts a
    line that explains it ("- **404**: ...", "**404 Not found** ...").

    >>> from scoring.lexicon import load_shipped
    >>> english = load_shipped()["en"]
    >>> [error.code for error in error_codes(PreparedText.of("K-1014, error 404 or 200 euros", english))]
    ['k-1014', '404']
    """
    return tuple(
        ErrorCode(match.group().casefold(), *match.span())
        for match in _SHAPE.finditer(text.original, text.start, text.end)
        if match["number"] is None or _is_code(text, match)
    )


def _is_code(text: PreparedText, number: re.Match[str]) -> bool:
    before = text.original[max(text.start, number.start() - _BEFORE) : number.start()]
    noun = _NOUN.search(before)
    if noun and noun[1].casefold() in text.lexicon.error_nouns:
        return True
    opens_line = _OPENS_LINE.search(before if number.start() - _BEFORE > text.start else f"\n{before}")
    return bool(opens_line and _EXPLAINS.match(text.original, number.end()))
