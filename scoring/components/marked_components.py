"""Marked names of components in the house styles of help texts, and those below a heading.

A component is a button, field, tab, setting or role that is marked (see ``marks``) and looks like
a name: it has a capital, or stands beside a word such as "button". A menu path (``A / B``,
``A > B``) is several components in order. Where a line marks nothing, capitalised names count that
follow a click verb, stand beside a word such as "button", or stand in a path (see ``unmarked``).
"""

import re
from collections.abc import Iterable, Iterator

from scoring.components.unmarked_components import Component, ComponentName, unmarked_components
from scoring.text.characters import STOPS, sentence_ends_between
from scoring.text.prepared_text import PreparedText, split_words
from scoring.text.spans import HEADING, MarkedSpan, marked_spans

# The number of spaces is bounded so that a run of blanks is not searched again and again.
_SEPARATOR = re.compile(r"[ \t]{0,4}(?:[ \t][/|][ \t]|->|[>›»→])[ \t]{0,4}")
_LONGEST_SEPARATOR = 11
_MOST_WORDS = 8
# As far as "click then on the" before a name.
_CUE_REACH = 24
_SENTENCE_WORDS = 4
_LONGEST_ITEM = 34
# No menu is deeper. Evidence may quote a path, so it must not be as long as an answer can be.
_MOST_PARTS = 12
_ITEM = re.compile(r"[ \t]{0,20}(?:[-*+•]|(?P<number>\d{1,3}[.)]))?[ \t]{0,8}")


def components(text: PreparedText) -> tuple[Component, ...]:
    """Return the components and menu paths that a text names, in order.

    A path of more than 12 parts is cut into shorter ones. Each begins with the last part of the one
    before, so that no step of it goes unchecked.
    """
    found = marked_spans(text)
    named = [*_joined_paths(text, _marked_names(text, found)), *unmarked_components(text, found)]
    pieces = [piece for component in named for piece in _split_path(component)]
    return tuple(sorted(pieces, key=lambda component: component.span))


def _split_path(component: Component) -> Iterator[Component]:
    parts = component.parts
    for start in range(0, max(len(parts) - 1, 1), _MOST_PARTS - 1):
        yield Component(parts[start : start + _MOST_PARTS])


def _marked_names(
    text: PreparedText, found: tuple[MarkedSpan, ...]
) -> Iterator[tuple[MarkedSpan, tuple[ComponentName, ...]]]:
    for mark in found:
        parts = _parts(text.original, mark)
        if len(parts) > 1 and all(_looks_like_name(text, part) for part in parts):
            yield mark, parts
            continue
        whole = _name(text.original, mark.start, mark.end)
        if _looks_like_name(text, whole, _has_cue(text, mark)) and not _is_title(text, mark):
            yield mark, (whole,)


def _joined_paths(
    text: PreparedText, named: Iterable[tuple[MarkedSpan, tuple[ComponentName, ...]]]
) -> Iterator[Component]:
    """Join marks with only a separator between them, as in ``**A** > **B**``, to one path."""
    parts: list[ComponentName] = []
    previous_end = -1
    for mark, names in named:
        between = text.original[previous_end : mark.outer_start] if parts else ""
        if parts and len(between) <= _LONGEST_SEPARATOR and _SEPARATOR.fullmatch(between):
            parts.extend(names)
        else:
            if parts:
                yield Component(tuple(parts))
            parts = list(names)
        previous_end = mark.outer_end
    if parts:
        yield Component(tuple(parts))


def _parts(original: str, mark: MarkedSpan) -> tuple[ComponentName, ...]:
    names, start = [], mark.start
    for separator in _SEPARATOR.finditer(original, mark.start, mark.end):
        names.append(_name(original, start, separator.start()))
        start = separator.end()
    return (*names, _name(original, start, mark.end))


def _name(original: str, start: int, end: int) -> ComponentName:
    words = split_words(original, start, end)
    if not words:
        return ComponentName((), start, start)
    return ComponentName(tuple(word.text for word in words), words[0].start, words[-1].end)


def _has_cue(text: PreparedText, mark: MarkedSpan) -> bool:
    """Say whether a mark stands beside a word that only components have: the 'salary' button."""
    lexicon = text.lexicon
    before = split_words(text.original, max(text.start, mark.outer_start - _CUE_REACH), mark.outer_start)
    after = split_words(text.original, mark.outer_end, min(text.end, mark.outer_end + _CUE_REACH))
    if after and after[0].text in lexicon.component_nouns and after[0].start == mark.outer_end + 1:
        return True
    # After a verb only quotes: "click **twice**" is emphasis.
    is_quoted = text.original[mark.outer_start] not in "*_<"
    cues = lexicon.component_nouns | (lexicon.action_verbs if is_quoted else frozenset())
    nearest = next((word.text for word in reversed(before) if word.text not in lexicon.function_words), "")
    return nearest in cues and not sentence_ends_between(text.original, before[-1].end, mark.outer_start)


def _looks_like_name(text: PreparedText, name: ComponentName, has_cue: bool = False) -> bool:
    """Say whether marked text is a name: it has a capital or a cue, is short, and no bare emphasis."""
    if not 0 < len(name.words) <= _MOST_WORDS:
        return False
    if not text.original[name.start].isupper():
        is_word = text.original[name.start].islower() and name.words[0] not in text.lexicon.function_words
        if not (has_cue and is_word):
            return False
    if name.words[-1] in text.lexicon.keys:
        return False
    if text.original.startswith(":", name.end) and name.words[0] in text.lexicon.function_words:
        return False  # it leads in what follows: "That is how you do it:"
    ends_sentence = text.original.startswith(tuple(STOPS), name.end)
    is_sentence = ends_sentence and len(name.words) >= _SENTENCE_WORDS
    return not is_sentence and not text.lexicon.emphasis.occurs(name.words, (0,))


def _is_title(text: PreparedText, mark: MarkedSpan) -> bool:
    """Say whether a mark is a heading, a label or the title of a step: "1. **Open the file**: ..."."""
    original = text.original
    earliest = max(text.start, mark.outer_start - _LONGEST_ITEM)
    line_start = max(original.rfind("\n", earliest, mark.outer_start) + 1, earliest)
    item = _ITEM.fullmatch(original, line_start, mark.outer_start)
    if item is None or line_start == mark.outer_start - _LONGEST_ITEM:
        return False
    after = original[mark.outer_end : mark.outer_end + 2].lstrip(" ")
    fills_line = after.strip(":. ")[:1] in ("", "\n")
    if fills_line and (item["number"] or not item.group().strip()):
        return True
    if original[mark.start : mark.end].rstrip().endswith(":"):
        return True  # a label, such as "- **Price:** € 10"
    first_word = _name(original, mark.start, mark.end).words[:1]
    return after.startswith(":") and not text.lexicon.instruction_verbs.isdisjoint(first_word)


_HEADINGS_ITEM = re.compile(r"[ \t]{0,20}(?:[-*+•][ \t]{1,8})?(?:\*\*|__)?")
# "The File Menu", "Het menu Bestand": a title of more words tells of something.
_HEADINGS_MOST_WORDS = 4


def components_below_headings(text: PreparedText) -> Iterator[tuple[ComponentName, ComponentName]]:
    """Yield what a heading names and each component that opens a line below it, up to the next heading.

    A heading counts where it is short and has a word such as "menu" (the lexicon's ``component_nouns``)
    beside the name.
    """
    openings = {
        component.parts[0].start: component.parts[0]
        for component in text.cached(components)
        if len(component.parts) == 1
    }
    heading = None
    for start, end in text.lines():
        if marked := HEADING.match(text.original, start, end):
            heading = _heading_name(text, marked.end(), end)
        elif heading and (item := _HEADINGS_ITEM.match(text.original, start, end)) and item.end() in openings:
            yield heading, openings[item.end()]


def _heading_name(text: PreparedText, start: int, end: int) -> ComponentName | None:
    lexicon = text.lexicon
    said = split_words(text.original, start, end)
    words = tuple(word for word in said if word.text not in lexicon.function_words)
    named = tuple(word.text for word in words if word.text not in lexicon.component_nouns)
    if len(said) > _HEADINGS_MOST_WORDS or not named or len(named) == len(words):
        return None
    return ComponentName(named, words[0].start, words[-1].end)
