"""The claims of an answer: its sentences and list steps, what kind each is, and its content words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from scoring.text.clock_times import clock_times
from scoring.text.prepared_text import PreparedText
from scoring.text.spans import sentence_tokens, token_span


@dataclass(frozen=True, slots=True)
class ContentWord:
    """A word by its ``forms``: its folded text, its lemma, and the time of day that it tells; each once."""

    forms: tuple[str, ...]


def content_words(text: PreparedText, tokens: Iterable[int]) -> tuple[ContentWord, ...]:
    """Return the words among tokens of a text that carry content, numbers among them."""
    parse, empty = text.parse, text.lexicon.function_words
    clock = text.cached(_clock)
    return tuple(
        ContentWord(
            tuple(dict.fromkeys((parse.text[n], parse.lemma[n], *clock.get(int(parse.start[n]), ()))))
        )
        for n in tokens
        if not parse.is_stop[n] and parse.text[n] not in empty and any(map(str.isalnum, parse.text[n]))
    )


def _clock(text: PreparedText) -> Mapping[int, tuple[str]]:
    """Return the time of day for every place of the text that tells one: both words of "2 pm" do."""
    return {place: (time.value,) for time in clock_times(text) for place in range(time.start, time.end)}


# What may close a sentence beside its stop: quotes, brackets, marks of emphasis.
_END = re.compile(r"[\"'”’»)\]*_ \t]{0,6}([?:])")
# A sentence with no more other words than that says nothing of the product.
_FEW_WORDS = 1
# A wish or an offer of help may name what it is about; one that says more may well claim something.
_WISHED_WORDS = 8
#: No support answer says more; what follows is not compared, and such an answer never sent by itself.
MAX_CLAIMS = 150
_MOST_WORDS = 80


class ClaimKind(Enum):
    """What a sentence of an answer says."""

    #: Something of the product, which documents may have or not.
    CLAIM = auto()
    #: That there is no answer, or that who answers cannot do it.
    REFUSAL = auto()
    #: A greeting, a wish, an offer of help, or what leads in a list.
    COURTESY = auto()
    #: Yes, no, or "that can be done": what it is about stands in the question alone.
    YES_OR_NO = auto()
    QUESTION = auto()


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence or list step; ``start`` and ``end`` are its place in the original text.

    ``words`` are the first 80 of those that carry content, ``tokens`` the indices of all its words.
    """

    kind: ClaimKind
    start: int
    end: int
    words: tuple[ContentWord, ...]
    tokens: tuple[int, ...]


def claims(text: PreparedText) -> tuple[Claim, ...]:
    """Return the first 150 sentences and list steps of the compared part, in order."""
    return tuple(_claim(text, run) for run in sentence_tokens(text)[:MAX_CLAIMS])


def _claim(text: PreparedText, run: tuple[int, ...]) -> Claim:
    start, end = token_span(text, run)
    words = content_words(text, run)
    return Claim(_kind(text, run, words, end), start, end, words[:_MOST_WORDS], run)


def _kind(text: PreparedText, run: Sequence[int], words: Sequence[ContentWord], end: int) -> ClaimKind:
    closing = _END.match(text.original, end)
    if closing and closing[1] == "?":
        return ClaimKind.QUESTION
    denies = _denies(text, run)
    if _refuses(text, run, denies):
        return ClaimKind.REFUSAL
    if not denies and _wishes(text, run, words):
        return ClaimKind.COURTESY
    courteous = text.lexicon.claims.courtesies
    is_figure = not closing and _has_number(text, run)
    most = 0 if denies or is_figure else _FEW_WORDS
    others = sum(courteous.isdisjoint(word.forms) for word in words)
    if closing or others < len(words):
        kind = ClaimKind.COURTESY if others <= most else ClaimKind.CLAIM
    else:
        kind = ClaimKind.CLAIM if others else ClaimKind.YES_OR_NO
    if text.parse.text[run[0]] in text.lexicon.refusal.verdicts and others <= _FEW_WORDS and not is_figure:
        return ClaimKind.YES_OR_NO
    return kind


def _wishes(text: PreparedText, run: Sequence[int], words: Sequence[ContentWord]) -> bool:
    """Say whether a sentence opens as only wishes and offers do, is short, and has no number and no name."""
    said = tuple(text.parse.text[n] for n in run)
    if len(words) > _WISHED_WORDS or _has_number(text, run):
        return False
    start, end = token_span(text, run)
    return "**" not in text.original[start:end] and text.lexicon.claims.wishes.occurs_at_start(said)


def _has_number(text: PreparedText, run: Sequence[int]) -> bool:
    return any(any(map(str.isdigit, text.parse.text[n])) for n in run)


def _denies(text: PreparedText, run: Sequence[int]) -> bool:
    parse, negations = text.parse, text.lexicon.negations
    return any(parse.text[n] in negations or parse.lemma[n] in negations for n in run)


def _refuses(text: PreparedText, run: Sequence[int], denies: bool) -> bool:
    lexicon, said = text.lexicon, tuple(text.parse.text[n] for n in run)
    if lexicon.refusal.phrases.occurs(said):
        return True
    return denies and not (lexicon.claims.speakers | lexicon.claims.sources).isdisjoint(said)
