"""Unmarked names of components: "klik op Opslaan", "the Save button", "Go to HR > Leave"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from scoring.text.characters import clause_ends_between
from scoring.text.prepared_text import PreparedText, Word, split_words
from scoring.text.spans import MarkedSpan


@dataclass(frozen=True, slots=True)
class ComponentName:
    """The folded words of one component's name, and their span in the original text.

    ``open_ended``: nothing marks the end of the name, so it may go on.
    """

    words: tuple[str, ...]
    start: int
    end: int
    open_ended: bool = False

    @classmethod
    def of(cls, words: Sequence[Word], open_ended: bool = False) -> Self:
        """Return the name that consists of these words."""
        start, end = (words[0].start, words[-1].end) if words else (0, 0)
        return cls(tuple(word.text for word in words), start, end, open_ended)


@dataclass(frozen=True, slots=True)
class Component:
    """One component, or a menu path where there are several parts."""

    parts: tuple[ComponentName, ...]

    @property
    def span(self) -> tuple[int, int]:
        """The span in the original text."""
        return self.parts[0].start, self.parts[-1].end


_SEPARATOR = re.compile(r"[ \t](?:[/>›»→|]|->)[ \t]")
_MAX_WORDS = 5
# From the verb to the name: "klik dan op de knop Opslaan".
_MAX_DISTANCE = 4


def unmarked_components(text: PreparedText, marked: Sequence[MarkedSpan]) -> Iterator[Component]:
    """Yield the components of the lines without any marked span."""
    starts = iter([*(mark.outer_start for mark in marked), text.end + 1])
    next_mark = next(starts)
    for start, end in text.lines():
        has_mark = next_mark < end
        while next_mark < end:
            next_mark = next(starts)
        if has_mark:
            continue
        in_path = bytearray(end - start)
        for path in _paths(text, start, end):
            yield path
            first, last = path.span
            in_path[first - start : last - start] = b"\x01" * (last - first)
        for name in _names_beside_cues(text, split_words(text.original, start, end)):
            if not in_path[name.start - start]:
                yield Component((name,))


def _paths(text: PreparedText, start: int, end: int) -> Iterator[Component]:
    cuts = [match.span() for match in _SEPARATOR.finditer(text.original, start, end)]
    if not cuts:
        return
    bounds = [start, *(offset for cut in cuts for offset in cut), end]
    segments = [split_words(text.original, *bounds[n : n + 2]) for n in range(0, len(bounds), 2)]
    parts: list[ComponentName] = []
    for number, segment in enumerate(segments):
        middle = _middle_part(text, segment) if parts and number < len(segments) - 1 else None
        if middle:
            parts.append(middle)
            continue
        last = _capitalised_run(text, segment, 0) if parts else None
        if last:
            yield Component((*parts, last))
        parts = [first] if (first := _first_part(text, segment)) else []


def _middle_part(text: PreparedText, segment: Sequence[Word]) -> ComponentName | None:
    """Return the whole segment between two separators as a part, if it can be one."""
    if not 0 < len(segment) <= _MAX_WORDS or not _is_capital(text, segment[0]):
        return None
    if any(_clause_ends_between(text, left, right) for left, right in pairwise(segment)):
        return None
    return ComponentName.of(segment)


def _first_part(text: PreparedText, segment: Sequence[Word]) -> ComponentName | None:
    """Return the words before the first separator, back to a path opener such as "naar" or a stop."""
    begin: int | None = None
    for index in range(len(segment) - 1, max(len(segment) - 1 - _MAX_WORDS, -1), -1):
        if segment[index].text in text.lexicon.path_openers and begin is not None:
            break
        if _is_capital(text, segment[index]):
            begin = index
        if index and _clause_ends_between(text, segment[index - 1], segment[index]):
            break
    return None if begin is None else ComponentName.of(segment[begin:])


def _names_beside_cues(text: PreparedText, words: Sequence[Word]) -> Iterator[ComponentName]:
    lexicon = text.lexicon
    for index, word in enumerate(words):
        if word.text in lexicon.action_verbs:
            name = _name_after_verb(text, words, index + 1)
        elif word.text in lexicon.component_nouns:
            name = None
            if index + 1 < len(words) and not _clause_ends_between(text, word, words[index + 1]):
                name = _capitalised_run(text, words, index + 1)
            name = name or _name_before_noun(text, words, index)
        else:
            continue
        if name and name.words[0] not in lexicon.keys:
            yield name


def _name_after_verb(text: PreparedText, words: Sequence[Word], start: int) -> ComponentName | None:
    skipped = text.lexicon.function_words | text.lexicon.component_nouns
    for index in range(start, min(start + _MAX_DISTANCE, len(words))):
        if _clause_ends_between(text, words[index - 1], words[index]):
            return None
        if _is_capital(text, words[index]):
            return _capitalised_run(text, words, index)
        if words[index].text not in skipped:
            return None
    return None


def _name_before_noun(text: PreparedText, words: Sequence[Word], noun: int) -> ComponentName | None:
    """Return the capitalised words right before a noun, unless their capital only starts the sentence."""
    start = noun
    while start > 0 and noun - start < _MAX_WORDS and _is_capital(text, words[start - 1]):
        if _clause_ends_between(text, words[start - 1], words[start]):
            break
        start -= 1
    if start < noun - 1 and words[start].text in text.lexicon.function_words:
        start += 1  # "The Save button": the article has the capital of the sentence
    starts_clause = start == 0 or _clause_ends_between(text, words[start - 1], words[start])
    return None if start == noun or starts_clause else ComponentName.of(words[start:noun])


def _capitalised_run(text: PreparedText, words: Sequence[Word], index: int) -> ComponentName | None:
    end = index
    while end < len(words) and end - index < _MAX_WORDS and _is_capital(text, words[end]):
        if end > index and _clause_ends_between(text, words[end - 1], words[end]):
            break
        end += 1
    return ComponentName.of(words[index:end], open_ended=True) if end > index else None


def _is_capital(text: PreparedText, word: Word) -> bool:
    # A single letter is "I", a drive or a column.
    return text.original[word.start].isupper() and word.end - word.start > 1


def _clause_ends_between(text: PreparedText, left: Word, right: Word) -> bool:
    return clause_ends_between(text.original, left.end, right.start, extra_signs=")")
