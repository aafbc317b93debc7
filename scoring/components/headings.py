"""The components that stand below a heading which names a menu, a tab or a dialog."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scoring.components.marked import components
from scoring.components.names import Name
from scoring.text.marks import HEADING
from scoring.text.prepared import PreparedText, words_of

_ITEM = re.compile(r"[ \t]{0,20}(?:[-*+•][ \t]{1,8})?(?:\*\*|__)?")
# "The File Menu", "Het menu Bestand": a title of more words tells of something.
_MOST_WORDS = 4


def below_headings(text: PreparedText) -> Iterator[tuple[Name, Name]]:
    """Yield what a heading names and each component that opens a line below it, up to the next heading.

    A heading counts where it is short and has a word such as "menu" (the lexicon's ``component_nouns``)
    beside the name.
    """
    openings = {
        component.parts[0].start: component.parts[0]
        for component in text.derived(components)
        if len(component.parts) == 1
    }
    heading = None
    for start, end in text.lines():
        if marked := HEADING.match(text.original, start, end):
            heading = _named(text, marked.end(), end)
        elif heading and (item := _ITEM.match(text.original, start, end)) and item.end() in openings:
            yield heading, openings[item.end()]


def _named(text: PreparedText, start: int, end: int) -> Name | None:
    lexicon = text.lexicon
    said = words_of(text.original, start, end)
    words = tuple(word for word in said if word.text not in lexicon.function_words)
    named = tuple(word.text for word in words if word.text not in lexicon.component_nouns)
    if len(said) > _MOST_WORDS or not named or len(named) == len(words):
        return None
    return Name(named, words[0].start, words[-1].end)
