"""Answers that quote a guide or a whole document (paper, V-B), or return a courtesy (section VIII)."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from scoring.features import Feature
from scoring.lexicon import Lexicon
from scoring.quotation.quoted_document import is_visible
from scoring.text.parsing import NON_WORD_POS, Parse
from scoring.text.prepared_text import PreparedExchange, PreparedText, Word, split_words
from scoring.text.spans import HEADING, span_evidence
from scoring.values.exchange import Evidence, FeatureValue
from scoring.values.rules import Rule, RuleEffect

VERBATIM_DOCUMENT = "verbatim_document"

VERBATIM_DOCUMENT_RULE = Rule(
    "verbatim_document",
    "The answer is a whole document marked `auto_send`, character for character; the question is its title.",
    RuleEffect.SEND,
)


class VerbatimDocument(Feature):
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
    evidence_rules = ((VERBATIM_DOCUMENT, VERBATIM_DOCUMENT_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return 1 for an answer that is such a document, else None."""
        if exchange.quoted_document_id is None:
            return FeatureValue(self.name, None)
        answer = (exchange.whole_answer or exchange.answer).original
        span = len(answer) - len(answer.lstrip()), len(answer.rstrip())
        evidence = span_evidence(VERBATIM_DOCUMENT, exchange.answer, [span], exchange.quoted_document_id)
        return FeatureValue(self.name, 1.0, evidence)


COURTESY = "courtesy"

COURTESY_RULE = Rule(
    "courtesy",
    "The customer thanks or greets, and the answer returns it: both consist of listed sentences.",
    RuleEffect.SEND,
    uses_documents=False,
)

_MAX_CHARACTERS = 300
# A question mark is part of its listed sentence.
_SENTENCE_END = re.compile(r"(?<=\?)|[.!\n]")


class Courtesy(Feature):
    """Whether the customer only thanks or greets, and the answer only returns it.

    The whole message and the whole answer consist of sentences of closed lists, ``[sending]`` of the lexicon,
    apart from case, commas and final punctuation, and the answer's match the message's: "you're welcome"
    returns thanks, "how can I help you?" a greeting. The value is in [0, 1]: 1 where it is so, otherwise not
    applicable.

    Evidence: ``courtesy``, the whole answer.

    >>> answers = "You're welcome. Good luck!", "You're welcome. Drafts are free."
    >>> exchanges = [PreparedExchange.of_texts("Great, thanks!", answer) for answer in answers]
    >>> [Courtesy().measure(exchange).value for exchange in exchanges]
    [1.0, None]
    """

    name = COURTESY
    evidence_rules = ((COURTESY, COURTESY_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return 1 for an exchange of courtesies, else None."""
        answer, words = exchange.answer, exchange.answer.lexicon.sending
        # A translation may turn a statement into a courtesy.
        if words is None or answer.source is not None:
            return FeatureValue(self.name, None)
        message = _sentences(exchange.question.original)
        # "Good morning" may be repeated, but not be returned by "good evening".
        replies = words.replies | set(message)
        for sent, returned in ((words.thanks, words.welcomes), (words.hellos, replies)):
            if _consists_of(message, sent) and _consists_of(_sentences(answer.original), returned):
                span = (0, len(answer.original))
                return FeatureValue(self.name, 1.0, span_evidence(COURTESY, answer, [span]))
        return FeatureValue(self.name, None)


def _sentences(text: str) -> list[str]:
    """Return the lowercase sentences of a text; none of a long or not visible one, or with "..." or "!!"."""
    if len(text) > _MAX_CHARACTERS or not is_visible(text) or ".." in text or "!!" in text:
        return []
    sentences = map(str.strip, _SENTENCE_END.split(text.lower().replace("’", "'")))
    return [sentence for sentence in sentences if sentence]


def _consists_of(sentences: list[str], listed: AbstractSet[str]) -> bool:
    """Return whether there are sentences, and all are listed."""
    return bool(sentences) and all(
        sentence.replace(", ", " ") in listed or listed >= set(sentence.split(", ")) for sentence in sentences
    )


_NUMBERED = re.compile(r"[ \t]{0,20}(?:\*\*|__)?(?P<number>\d{1,2})[.)](?:\*\*|__)?[ \t]{1,8}")
_NAMED = re.compile(
    r"[ \t]{0,20}(?:[-+*#]{1,6}[ \t]{1,4})?(?:\*\*|__)?(?P<word>[^\W\d_]{2,12})[ \t]{1,2}(?P<number>\d{1,2})"
    r"(?:\*\*|__)?[ \t]{0,2}[.):–-]?(?:\*\*|__)?(?:[ \t]{1,8}|$|(?=\n))"
)
_MIN_STEPS = 2


@dataclass(frozen=True, slots=True)
class GuideStep:
    """One step of a guide: the span of its text and its words."""

    start: int
    end: int
    words: tuple[Word, ...]


#: At least two steps, numbered consecutively from 1.
Guide = tuple[GuideStep, ...]


def guides(text: PreparedText) -> tuple[Guide, ...]:
    """Return the numbered guides of a text, in order.

    Lines below a step belong to it up to an empty line, indented ones also after it. Empty lines may separate
    steps. Any other line, or a heading, ends the guide.
    """
    runs: list[list[tuple[int, int]]] = [[]]
    is_step_open = False
    for start, end in text.lines():
        number, body_start = _step_number(text, start, end)
        steps = runs[-1]
        if number is not None and number in (1, len(steps) + 1):
            if number == 1:
                runs.append([])
            runs[-1].append((body_start, end))
            is_step_open = True
        elif not text.original[start:end].strip():
            is_step_open = False
        elif steps:
            is_heading = HEADING.match(text.original, start, end)
            if not is_heading and (is_step_open or text.original[start] in " \t"):
                steps[-1] = steps[-1][0], end
            else:
                runs.append([])
    return tuple(
        tuple(GuideStep(*span, split_words(text.original, *span)) for span in steps)
        for steps in runs
        if len(steps) >= _MIN_STEPS
    )


def _step_number(text: PreparedText, start: int, end: int) -> tuple[int | None, int]:
    if match := _NUMBERED.match(text.original, start, end):
        return int(match["number"]), match.end()
    match = _NAMED.match(text.original, start, end)
    if match and match["word"].casefold() in text.lexicon.step_words:
        return int(match["number"]), match.end()
    return None, start


DIFFERING_STEP = "differing_step"

# No support answer has more; the limits bound the comparison of steps with steps.
_MAX_GUIDES = 10
_MAX_STEPS = 50


class VerbatimGuide(Feature):
    r"""How similar the answer's numbered guides are to guides of the context.

    A guide's value is its best over the context's guides: the mean over its steps of the cosine of the counts
    of their lemmas, without stop words, times the ratio of the step counts. The feature is the mean over the
    answer's guides (the first 10), in [0, 1]; 0 where the context has no guide, not applicable where the
    answer has none.

    Chatbots' mistakes change one number, one "not" or one button of a guide, which no cosine shows. So
    nothing is sent for it (:class:`scoring.features.quotation.VerbatimDocument` requires more), and a
    step with other words than all steps of the most similar guide (apart from fillers of the lexicon) is a
    ``differing_step``.

    >>> guide = "1. Open the menu.\n2. Choose the colour."
    >>> VerbatimGuide().measure(PreparedExchange.of_texts("How?", guide, f"A way to do it:\n\n{guide}")).value
    1.0
    """

    name = "verbatim_guide"
    uses_translation = True
    evidence_rules = ((DIFFERING_STEP, None),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return the mean similarity of the answer's guides."""
        answer, similarities, evidence = exchange.answer, list[float](), list[Evidence]()
        for guide, counts in answer.cached(guide_lemma_counts):
            best, nearest, nearest_document = 0.0, None, None
            for document in exchange.context:
                for other, other_counts in document.text.cached(guide_lemma_counts):
                    if (similarity := _similarity(counts, other_counts)) > best:
                        best, nearest, nearest_document = similarity, other, document
            similarities.append(best)
            if nearest and nearest_document:
                spans = _differing_steps(guide, nearest, answer.lexicon)
                evidence += span_evidence(DIFFERING_STEP, answer, spans, nearest_document.document_id)
        if not similarities:
            return FeatureValue(self.name, None)
        value = math.fsum(similarities) / len(similarities)
        return FeatureValue(self.name, min(value, 1.0), tuple(evidence))


def guide_lemma_counts(text: PreparedText) -> tuple[tuple[Guide, list[Counter[str]]], ...]:
    """Return the first guides of a text, each with the lemma counts of its first steps."""
    return tuple(
        (guide, [_lemma_counts(text.parse, step) for step in guide[:_MAX_STEPS]])
        for guide in guides(text)[:_MAX_GUIDES]
    )


def _lemma_counts(parse: Parse, step: GuideStep) -> Counter[str]:
    tokens = parse.indices(step.start, step.end)
    return Counter(
        parse.lemma[n] for n in tokens if not parse.is_stop[n] and parse.pos[n] not in NON_WORD_POS
    )


def _similarity(own: list[Counter[str]], other: list[Counter[str]]) -> float:
    if len(own) == len(other):
        return math.fsum(map(_cosine, own, other)) / len(own)
    nearest = [max(_cosine(step, candidate) for candidate in other) for step in own]
    ratio = min(len(own), len(other)) / max(len(own), len(other))
    return ratio * math.fsum(nearest) / len(own)


def _cosine(left: Counter[str], right: Counter[str]) -> float:
    product = sum(count * right[word] for word, count in left.items())
    squares = (sum(count * count for count in counts.values()) for counts in (left, right))
    length = math.sqrt(math.prod(squares))
    return min(product / length, 1.0) if length else 0.0


def _differing_steps(guide: Guide, nearest: Guide, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    known = {_significant_words(step, lexicon) for step in nearest}
    for step in guide:
        if _significant_words(step, lexicon) not in known:
            yield step.start, step.end


def _significant_words(step: GuideStep, lexicon: Lexicon) -> tuple[str, ...]:
    return tuple(word.text for word in step.words if word.text not in lexicon.fillers)
