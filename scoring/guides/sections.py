"""The sections of a text: what stands below each heading, and what that heading stands below."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from scoring.guides.lines import heading_level, is_heading, line_number, plain_lines
from scoring.text.prepared import PreparedText

# A title that is not marked as one stands over everything.
_TITLE_LEVEL = 1


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the lines below it, as places in :func:`scoring.guides.lines.plain_lines`.

    - ``heading``: the place of the heading, which the text's first line is, marked as one or not;
      ``first``, ``after``: the lines below it;
    - ``is_nested``: another heading than the title stands above it;
    - ``is_divided``: a deeper heading follows, so that it goes on there.
    """

    heading: int
    first: int
    after: int
    is_nested: bool
    is_divided: bool


def title_lines(text: PreparedText) -> int:
    """Return how many of the first lines are the title: two where a heading follows an unmarked one."""
    lines = text.derived(plain_lines)
    return 2 if len(lines) > 1 and not is_heading(lines[0][1]) and is_heading(lines[1][1]) else 1


def sections(text: PreparedText) -> tuple[Section, ...]:
    """Return the sections of a text, in order; a text that begins with a step has none before a heading."""
    lines = text.derived(plain_lines)
    places = [place for place, (_, line) in enumerate(lines) if place and is_heading(line)]
    if lines and line_number(lines[0][1]) is None:
        places = [0, *places]
    levels = {place: heading_level(lines[place][1]) or _TITLE_LEVEL for place in places}
    found, above, last_title = list[Section](), list[int](), title_lines(text) - 1
    for place, following in pairwise([*places, len(lines)]):
        above = [each for each in above if levels[each] < levels[place]]
        is_nested = any(each > last_title for each in above)
        is_divided = levels.get(following, 0) > levels[place]
        found.append(Section(place, place + 1, following, is_nested, is_divided))
        above.append(place)
    return tuple(found)
