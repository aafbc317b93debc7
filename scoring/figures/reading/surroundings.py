"""What stands above a block of data: its headings and the line before it, and what these call its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.figures.reading.blocks import Line
from scoring.figures.reading.labels import stems_of
from scoring.lexicon import Lexicon
from scoring.text.prepared import folded_words

# A heading that stands further above its table is that of something else.
_HEADING_REACH = 200
_LEAD_REACH = 3
_LONGEST = 300
_HEADING = "#"
# A heading of more words is about more than what is listed below it.
_MOST_WORDS = 2


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands above a block: its headings, and the line before it.

    ``words``: their words and stems; ``lead``: the line before; ``called``: stems of what its rows are
    called ("Plans", "These roles are available:"); ``named``: stems of what they may be called.
    ``is_complete``: nothing says that these are only examples.
    """

    words: frozenset[str]
    lead: str
    called: frozenset[str]
    named: frozenset[str]
    is_complete: bool

    @classmethod
    def of(cls, lines: Sequence[Line], at: int, lexicon: Lexicon) -> Surroundings:
        """Return what stands above the line at a place."""
        above = [line.text.strip() for line in reversed(lines[max(at - _HEADING_REACH, 0) : at])]
        heading = next((line for line in above if line.startswith(_HEADING)), "")
        near = [line for line in above[:_LEAD_REACH] if line]
        lead = near[0][-_LONGEST:] if near and not near[0].startswith((_HEADING, "|")) else ""
        title = next((line.text.strip() for line in lines if line.text.strip()), "") if at else ""
        text = "\n".join(part[-_LONGEST:] for part in (title, heading, lead))
        words = tuple(folded_words(text))
        nearest = (heading or title)[-_LONGEST:]
        return cls(
            words=frozenset((*words, *stems_of(text, lexicon))),
            lead=lead,
            called=_called(nearest, "" if lead == title else lead, lexicon),
            named=frozenset(stems_of(f"{nearest}\n{lead}", lexicon)),
            is_complete=not lexicon.figure_words.examples.occurs(words),
        )


def _called(heading: str, lead: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the stem of the plural that a short heading has, of the first one of the line that leads in.

    Where there is such a line a heading counts only if that has its word too: "Prices" is not what the items
    below "You can pay with:" are called. A verb may be taken for a plural; nobody counts by that.
    """
    plurals = _plurals(heading, lexicon) if len(stems_of(heading, lexicon)) <= _MOST_WORDS else ()
    above = frozenset(plurals) if len(plurals) == 1 else frozenset[str]()
    if not lead:
        return above
    first = _plurals(lead, lexicon)[:1] if lead.endswith(":") else ()
    return above.intersection(stems_of(lead, lexicon)).union(first)


def _plurals(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    words = (word for word in folded_words(text) if word not in lexicon.function_words)
    return tuple(stem for word in words if _is_plural(word, lexicon) for stem in stems_of(word, lexicon))


def _is_plural(word: str, lexicon: Lexicon) -> bool:
    """Say whether a word may be a plural: its stem lacks more than the "e" that singular and plural share."""
    return lexicon.stem(word) not in (word, word.removesuffix("e"))
