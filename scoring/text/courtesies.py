"""The sentences of a text that are courtesy and nothing besides, whatever else it says."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, pairwise, takewhile

from scoring.lexicon import Lexicon
from scoring.text.prepared import PreparedText, Word, words_of
from scoring.text.sentences import ends_between

# "I'm glad"
_OPENING = 2
# "Dear customer,"
_MOST_NAMED = 1
_WITHIN = re.compile(r"[\s,.'’()-]*")
_STOP = re.compile(r"[ \t]*[,.!?:;…)]*")


def mere_courtesies(
    text: PreparedText, asked: Collection[str], most_wished: int = 0
) -> tuple[tuple[int, int], ...]:
    """Return where sentences of the whole original stand, with their stops, that do no more than be polite.

    What may be sent unread rests on that, so it is strict: a sentence opens as greetings, thanks, wishes and
    offers of help do, and all its other words are words of courtesy or small words, without a negation. Only
    a name in a greeting is let pass, and ``most_wished`` words of what one wishes luck with. Any mark,
    picture or sign but those of punctuation makes it something else.

    Args:
        text: the answer.
        asked: the folded words of the message; what it says, that it works, may be said again.
        most_wished: how many words of its own may end a wish ("good luck with your new system").
    """
    return tuple(
        (sentence[0].start, _end(text.original, sentence[-1].end))
        for sentence in _sentences(text.original)
        if _is_plain(text.original, sentence) and _is_courteous(sentence, text.lexicon, asked, most_wished)
    )


def without(text: str, spans: Collection[tuple[int, int]]) -> str:
    """Return a text with these stretches blank, all else at its place."""
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def _sentences(original: str) -> Iterator[Sequence[Word]]:
    words: list[Word] = []
    for word in words_of(original):
        if words and ends_between(original, words[-1].end, word.start):
            yield words
            words = []
        words.append(word)
    if words:
        yield words


def _end(original: str, end: int) -> int:
    found = _STOP.match(original, end)
    return found.end() if found else end


def _is_plain(original: str, sentence: Sequence[Word]) -> bool:
    between = pairwise(sentence)
    return all(_WITHIN.fullmatch(original, left.end, right.start) for left, right in between)


def _is_courteous(
    sentence: Sequence[Word], lexicon: Lexicon, asked: Collection[str], most_wished: int
) -> bool:
    words, lists = [word.text for word in sentence], lexicon.claims
    greeted = [last for first, last in lexicon.greetings.find(words, (0,)) if first == 0]
    if greeted and len(words) <= max(greeted) + _MOST_NAMED:
        return True
    said = set(
        chain.from_iterable(
            range(first, last)
            for phrases in (lexicon.closings, lists.wishes, lexicon.greetings)
            for first, last in phrases.find(words, (0,))
        )
    )
    polite = (lists.thanks | lists.courtesies) - lists.telling
    if not any(place in said or words[place] in polite for place in range(min(_OPENING, len(words)))):
        return False
    known = (polite | lexicon.function_words | lists.telling.intersection(asked)) - lexicon.negations
    others = [place for place, word in enumerate(words) if place not in said and word not in known]
    return not others or (len(others) <= most_wished and _is_wished(words, others, lexicon))


def _is_wished(words: Sequence[str], others: Sequence[int], lexicon: Lexicon) -> bool:
    """Say whether all that is left is what one wishes luck with, and nothing follows it but small words."""
    begin, small = others[0], lexicon.fillers | lexicon.claims.wished_with
    between = (words[place] for place in range(begin, others[-1]) if place not in others)
    if not small.issuperset(between) or any(words[place] in lexicon.claims.telling for place in others):
        return False
    before = takewhile(lambda word: word in small, reversed(words[:begin]))
    return not lexicon.claims.wished_with.isdisjoint(before)
