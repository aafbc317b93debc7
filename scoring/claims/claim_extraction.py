"""The claims of an answer: its sentences and list steps with their kind and content words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from scoring.figures.times import clock_times
from scoring.text.prepared_text import PreparedText
from scoring.text.spans import sentence_tokens, token_span

#: A content word by its distinct forms: folded text, lemma, and the time of day that it is part of.
ContentWord = tuple[str, ...]


def content_words(text: PreparedText, tokens: Iterable[int]) -> tuple[ContentWord, ...]:
    """Return the content words, including numbers, among tokens of a text."""
    parse, function_words = text.parse, text.lexicon.function_words
    times = text.cached(_times_by_offset)
    return tuple(
        tuple(dict.fromkeys((parse.text[n], parse.lemma[n], *times.get(int(parse.start[n]), ()))))
        for n in tokens
        if not parse.is_stop[n]
        and parse.text[n] not in function_words
        and any(map(str.isalnum, parse.text[n]))
    )


def _times_by_offset(text: PreparedText) -> Mapping[int, tuple[str]]:
    """Return the time of day at every offset within one: both words of "2 pm" have it."""
    return {offset: (time.value,) for time in clock_times(text) for offset in range(time.start, time.end)}


# A question mark or colon, perhaps after closing quotes, brackets or marks of emphasis.
_END = re.compile(r"[\"'”’»)\]*_ \t]{0,6}([?:])")
# A sentence with at most so many other words claims nothing about the product.
_MAX_OTHER_WORDS = 1
# A wish or an offer of help may name its subject; a longer sentence may claim something.
_MAX_WISH_WORDS = 8
#: No support answer has more; the rest is not compared, and such an answer is never sent without review.
MAX_CLAIMS = 150
_MAX_CONTENT_WORDS = 80


class ClaimKind(Enum):
    """What kind of statement a sentence of an answer is."""

    #: About the product, so that documents can support it.
    CLAIM = auto()
    #: That there is no answer, or that the writer cannot do it.
    REFUSAL = auto()
    #: A greeting, a wish, an offer of help, or the introduction of a list.
    COURTESY = auto()
    #: Yes, no, or "that can be done": only the question has its content.
    YES_OR_NO = auto()
    QUESTION = auto()


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence or list step, with its span in the original text.

    ``words`` are its first 80 content words, ``tokens`` the indices of all its words.
    """

    kind: ClaimKind
    start: int
    end: int
    words: tuple[ContentWord, ...]
    tokens: tuple[int, ...]


def claims(text: PreparedText) -> tuple[Claim, ...]:
    """Return the first 150 sentences and list steps of the compared part, in order."""
    found = []
    for tokens in sentence_tokens(text)[:MAX_CLAIMS]:
        start, end = token_span(text, tokens)
        words = content_words(text, tokens)
        kind = _kind(text, tokens, words, end)
        found.append(Claim(kind, start, end, words[:_MAX_CONTENT_WORDS], tokens))
    return tuple(found)


def _kind(text: PreparedText, tokens: Sequence[int], words: Sequence[ContentWord], end: int) -> ClaimKind:
    parse, lexicon = text.parse, text.lexicon
    closing = _END.match(text.original, end)
    if closing and closing[1] == "?":
        return ClaimKind.QUESTION
    token_texts = tuple(parse.text[n] for n in tokens)
    # A "no," before a statement answers the question, and denies nothing of the statement.
    has_verdict = token_texts[0] in lexicon.refusal.verdicts and text.original.startswith(
        ",", parse.end[tokens[0]]
    )
    is_negated = any(
        not lexicon.negations.isdisjoint((parse.text[n], parse.lemma[n])) for n in tokens[has_verdict:]
    )
    refusing_words = lexicon.claims.speakers | lexicon.claims.sources
    if lexicon.refusal.phrases.occurs(token_texts) or (
        is_negated and not refusing_words.isdisjoint(token_texts)
    ):
        return ClaimKind.REFUSAL
    if not is_negated and _is_wish(text, tokens, words):
        return ClaimKind.COURTESY
    is_figure = not closing and _has_number(text, tokens)
    others = sum(map(lexicon.claims.courtesies.isdisjoint, words))
    if token_texts[0] in lexicon.refusal.verdicts and others <= _MAX_OTHER_WORDS and not is_figure:
        return ClaimKind.YES_OR_NO
    if closing or others < len(words):
        max_others = 0 if is_negated or is_figure else _MAX_OTHER_WORDS
        return ClaimKind.COURTESY if others <= max_others else ClaimKind.CLAIM
    return ClaimKind.CLAIM if others else ClaimKind.YES_OR_NO


def _is_wish(text: PreparedText, tokens: Sequence[int], words: Sequence[ContentWord]) -> bool:
    """Return whether a sentence starts like a wish or an offer, is short, and has no number and no name."""
    if len(words) > _MAX_WISH_WORDS or _has_number(text, tokens):
        return False
    start, end = token_span(text, tokens)
    token_texts = [text.parse.text[n] for n in tokens]
    return "**" not in text.original[start:end] and text.lexicon.claims.wishes.occurs_at_start(token_texts)


def _has_number(text: PreparedText, tokens: Sequence[int]) -> bool:
    return any(any(map(str.isdigit, text.parse.text[n])) for n in tokens)
