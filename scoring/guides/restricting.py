"""What a section says around a part of it that restricts the part or takes it back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile

from scoring.guides.lines import heading_level, is_heading, plain_lines
from scoring.lexicon import Lexicon
from scoring.text.prepared import PreparedText, words_of

_Lines = Sequence[tuple[int, str]]


def is_restricted(document: PreparedText, first: int, after: int, question: PreparedText) -> bool:
    """Say whether a part of a document may hold in some cases alone, or no longer, by what stands around it.

    The part are the lines from ``first`` up to ``after`` of :func:`scoring.guides.lines.plain_lines`. Whoever
    repeats it leaves out what stands around it, and so nothing there may restrict:

    1. between the heading and the part: "Only for administrators";
    2. below it in the section, a heading further down that only restricts ("Exceptions") among that: "This
       does not work on the free plan";
    3. the headings over it and the title, unless the question has these words: "On the free plan".

    What restricts are the lexicon's ``qualifiers``, ``contrasts`` and ``restrictions``, and negations; in
    headings no negations, which are compared with those of the question elsewhere. What the page says outside
    of the section, in its introduction or in a section "Conditions" beside it, is not looked at.
    """
    lines, lexicon = document.derived(plain_lines), document.lexicon
    around = (*_above(lines, first), *_below(lines, first, after, lexicon))
    if any(denies(line, lexicon) or _restrictions(line, lexicon) for line in around):
        return True
    asked = set(question.word_texts)
    return any(not _restrictions(line, lexicon) <= asked for line in _headings_over(lines, first))


def denies(text: str, lexicon: Lexicon) -> bool:
    """Say whether a text says "not" or its like."""
    return not _negations(_words(text), lexicon).isdisjoint(_words(text))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.text for word in words_of(text))


def _negations(words: Collection[str], lexicon: Lexicon) -> set[str]:
    return {word for word in words if word in lexicon.negations or word.endswith("n't")}


def _restrictions(line: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the words of a line that restrict, those that only deny apart."""
    words = _words(line)
    single = (lexicon.claims.qualifiers | lexicon.refusal.contrasts).intersection(words)
    phrases = (words[start:end] for start, end in lexicon.claims.restrictions.find(words, (0,)))
    return (single - _negations(words, lexicon)).union(*phrases)


def _above(lines: _Lines, first: int) -> tuple[str, ...]:
    """Return the lines between a part and the heading over it, which the document's first line may be."""
    above = [line for _, line in lines[1:first]]
    return tuple(takewhile(lambda line: not is_heading(line), reversed(above)))


def _below(lines: _Lines, first: int, after: int, lexicon: Lexicon) -> Iterator[str]:
    """Yield the lines of the section below a part."""
    level = next(map(heading_level, _headings_over(lines, first)), 0)
    for _, line in lines[after:]:
        if is_heading(line) and not (heading_level(line) > level and _only_restricts(line, lexicon)):
            return
        yield line


def _only_restricts(heading: str, lexicon: Lexicon) -> bool:
    """Say whether a heading opens what restricts the section above, and no subject of its own."""
    words = _words(heading)
    return lexicon.emphasis.opens(words) or lexicon.claims.restrictions.opens(words)


def _headings_over(lines: _Lines, first: int) -> Iterator[str]:
    """Yield the heading over a part, the one over that, and so on up to the document's first line."""
    level = None
    for place in range(first - 1, -1, -1):
        line = lines[place][1]
        if not place or (is_heading(line) and (level is None or heading_level(line) < level)):
            level = heading_level(line)
            yield line
