"""Names of components without marks: "klik op Opslaan", "the Save button", "Go to HR > Leave"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scoring.lexicon import Lexicon
from scoring.text.characters import clause_ends_between
from scoring.text.prepared_text import PreparedText, Word, split_words
from scoring.text.spans import MarkedSpan


@dataclass(frozen=True, slots=True)
class ComponentName:
    """The name of one component: its folded words and its place in the original text.

    ``open_ended``: nothing marks where the name ends, it may go on.
    """

    words: tuple[str, ...]
    start: int
    end: int
    open_ended: bool = False


@dataclass(frozen=True, slots=True)
class Component:
    """One component, or a menu path where there are several parts."""

    parts: tuple[ComponentName, ...]

    @property
    def span(self) -> tuple[int, int]:
        """Where it stands in the original text."""
        return self.parts[0].start, self.parts[-1].end


_SEPARATOR = re.compile(r"[ \t](?:[/>›»→|]|->)[ \t]")
_MOST_WORDS = 5
# Between the verb and the name: "klik dan op de knop Opslaan".
_MOST_BETWEEN = 4


def unmarked_components(text: PreparedText, marked: Sequence[MarkedSpan]) -> Iterator[Component]:
    """Yield the components of the lines that mark nothing."""
    starts = iter([*(mark.outer_start for mark in marked), text.end + 1])
    next_mark = next(starts)
    for start, end in text.lines():
        has_mark = next_mark < end
        while next_mark < end:
            next_mark = next(starts)
        if not has_mark:
            yield from _line_components(text, start, end)


def _line_components(text: PreparedText, start: int, end: int) -> Iterator[Component]:
    paths = list(_paths(text, start, end))
    yield from paths
    covered = bytearray(end - start)
    for path in paths:
        first, last = path.span
        covered[first - start : last - start] = b"\x01" * (last - first)
    for name in _names_beside_cues(text, split_words(text.original, start, end)):
        if not covered[name.start - start]:
            yield Component((name,))


def _paths(text: PreparedText, start: int, end: int) -> Iterator[Component]:
    cuts = [match.span() for match in _SEPARATOR.finditer(text.original, start, end)]
    if not cuts:
        return
    bounds = [start, *(place for cut in cuts for place in cut), end]
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
    """Take a whole segment between two separators as a part, if it can be one."""
    if not 0 < len(segment) <= _MOST_WORDS or not _is_capital(text, segment[0]):
        return None
    if any(_clause_ends_between(text, left, right) for left, right in pairwise(segment)):
        return None
    return _name(segment)


def _first_part(text: PreparedText, segment: Sequence[Word]) -> ComponentName | None:
    """Take the words before the first separator, back to a word such as "naar" or a stop."""
    begin: int | None = None
    for index in range(len(segment) - 1, max(len(segment) - 1 - _MOST_WORDS, -1), -1):
        if segment[index].text in text.lexicon.path_openers and begin is not None:
            break
        if _is_capital(text, segment[index]):
            begin = index
        if index and _clause_ends_between(text, segment[index - 1], segment[index]):
            break
    return None if begin is None else _name(segment[begin:])


def _names_beside_cues(text: PreparedText, words: Sequence[Word]) -> Iterator[ComponentName]:
    lexicon = text.lexicon
    for index, word in enumerate(words):
        if word.text in lexicon.action_verbs:
            found = _after_verb(text, words, index + 1)
        elif word.text in lexicon.component_nouns:
            found = _directly_after(text, words, index + 1) or _before_noun(text, words, index)
        else:
            continue
        if found and found.words[0] not in lexicon.keys:
            yield found


def _after_verb(text: PreparedText, words: Sequence[Word], index: int) -> ComponentName | None:
    lexicon = text.lexicon
    for place in range(index, min(index + _MOST_BETWEEN, len(words))):
        if _clause_ends_between(text, words[place - 1], words[place]):
            return None
        if _is_capital(text, words[place]):
            return _capitalised_run(text, words, place)
        if not _may_stand_between(lexicon, words[place]):
            return None
    return None


def _directly_after(text: PreparedText, words: Sequence[Word], index: int) -> ComponentName | None:
    if index >= len(words) or _clause_ends_between(text, words[index - 1], words[index]):
        return None
    return _capitalised_run(text, words, index)


def _before_noun(text: PreparedText, words: Sequence[Word], index: int) -> ComponentName | None:
    """Take the capitalised words right before a noun, but not a capital that opens the sentence."""
    begin = index
    while begin > 0 and index - begin < _MOST_WORDS and _is_capital(text, words[begin - 1]):
        if _clause_ends_between(text, words[begin - 1], words[begin]):
            break
        begin -= 1
    if begin < index - 1 and words[begin].text in text.lexicon.function_words:
        begin += 1  # "The Save button": the article has the capital that opens the sentence
    opens = begin == 0 or _clause_ends_between(text, words[begin - 1], words[begin])
    return None if begin == index or opens else _name(words[begin:index], open_ended=False)


def _capitalised_run(text: PreparedText, words: Sequence[Word], index: int) -> ComponentName | None:
    end = index
    while end < len(words) and end - index < _MOST_WORDS and _is_capital(text, words[end]):
        if end > index and _clause_ends_between(text, words[end - 1], words[end]):
            break
        end += 1
    return _name(words[index:end], open_ended=True) if end > index else None


def _name(words: Sequence[Word], open_ended: bool = False) -> ComponentName:
    return ComponentName(tuple(word.text for word in words), words[0].start, words[-1].end, open_ended)


def _may_stand_between(lexicon: Lexicon, word: Word) -> bool:
    return word.text in lexicon.function_words or word.text in lexicon.component_nouns


def _is_capital(text: PreparedText, word: Word) -> bool:
    # A single letter is "I", a drive or a column rather than a name.
    return text.original[word.start].isupper() and word.end - word.start > 1


def _clause_ends_between(text: PreparedText, left: Word, right: Word) -> bool:
    return clause_ends_between(text.original, left.end, right.start, extra_signs=")")
