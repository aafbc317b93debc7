"""Marked names of components in the house styles of help texts, and components below a heading.

A component is a button, field, tab, setting or role that is marked (:func:`scoring.text.spans.marked_spans`)
and looks like a name: it is capitalised, or next to a word such as "button". A menu path (``A / B``, ``A >
B``) is several components in order. On lines without marks, capitalised names count after a click verb,
next to a word such as "button", or in a path (:mod:`scoring.components.unmarked_components`).
"""

import re
from collections.abc import Iterable, Iterator

from scoring.components.unmarked_components import Component, ComponentName, unmarked_components
from scoring.text.characters import STOPS, sentence_ends_between
from scoring.text.prepared_text import PreparedText, split_words
from scoring.text.spans import HEADING, MarkedSpan, marked_spans

# The number of spaces is bounded, so that the search stays linear in runs of blanks.
_SEPARATOR = re.compile(r"[ \t]{0,4}(?:[ \t][/|][ \t]|->|[>›»→])[ \t]{0,4}")
_MAX_SEPARATOR = 11
_MAX_WORDS = 8
# Enough for "click then on the" before a name.
_CUE_REACH = 24
_MIN_SENTENCE_WORDS = 4
_MAX_ITEM_PREFIX = 34
# No menu is deeper. The limit bounds evidence that quotes a path.
_MAX_PARTS = 12
_ITEM = re.compile(r"[ \t]{0,20}(?:[-*+•]|(?P<number>\d{1,3}[.)]))?[ \t]{0,8}")


def components(text: PreparedText) -> tuple[Component, ...]:
    """Return the components and menu paths that a text names, in order.

    A path of more than 12 parts is cut into shorter ones. Each starts with the last part of the one before,
    so that every step of it is checked.
    """
    marks = marked_spans(text)
    named = [*_joined_paths(text, _marked_names(text, marks)), *unmarked_components(text, marks)]
    paths = [
        Component(component.parts[start : start + _MAX_PARTS])
        for component in named
        for start in range(0, max(len(component.parts) - 1, 1), _MAX_PARTS - 1)
    ]
    return tuple(sorted(paths, key=lambda component: component.span))


def _marked_names(
    text: PreparedText, marks: tuple[MarkedSpan, ...]
) -> Iterator[tuple[MarkedSpan, tuple[ComponentName, ...]]]:
    for mark in marks:
        parts = _parts(text.original, mark)
        if len(parts) > 1 and all(_looks_like_name(text, part) for part in parts):
            yield mark, parts
            continue
        whole = ComponentName.of(split_words(text.original, mark.start, mark.end))
        if _looks_like_name(text, whole, _has_cue(text, mark)) and not _is_title(text, mark):
            yield mark, (whole,)


def _joined_paths(
    text: PreparedText, named: Iterable[tuple[MarkedSpan, tuple[ComponentName, ...]]]
) -> list[Component]:
    """Join marks with only a separator between them, as in ``**A** > **B**``, to one path."""
    paths: list[list[ComponentName]] = []
    previous_end = 0
    for mark, names in named:
        between = text.original[previous_end : mark.outer_start]
        if paths and len(between) <= _MAX_SEPARATOR and _SEPARATOR.fullmatch(between):
            paths[-1].extend(names)
        else:
            paths.append(list(names))
        previous_end = mark.outer_end
    return [Component(tuple(parts)) for parts in paths]


def _parts(original: str, mark: MarkedSpan) -> tuple[ComponentName, ...]:
    separators = [match.span() for match in _SEPARATOR.finditer(original, mark.start, mark.end)]
    starts = [mark.start, *(end for _, end in separators)]
    ends = [*(start for start, _ in separators), mark.end]
    return tuple(ComponentName.of(split_words(original, *span)) for span in zip(starts, ends, strict=True))


def _has_cue(text: PreparedText, mark: MarkedSpan) -> bool:
    """Return whether a mark is next to a word that shows a component: the 'salary' button."""
    lexicon = text.lexicon
    before = split_words(text.original, max(text.start, mark.outer_start - _CUE_REACH), mark.outer_start)
    after = split_words(text.original, mark.outer_end, min(text.end, mark.outer_end + _CUE_REACH))
    if after and after[0].text in lexicon.component_nouns and after[0].start == mark.outer_end + 1:
        return True
    # After a verb only quotes count: "click **twice**" is emphasis.
    is_quoted = text.original[mark.outer_start] not in "*_<"
    cues = lexicon.component_nouns | (lexicon.action_verbs if is_quoted else frozenset())
    nearest = next((word.text for word in reversed(before) if word.text not in lexicon.function_words), "")
    return nearest in cues and not sentence_ends_between(text.original, before[-1].end, mark.outer_start)


def _looks_like_name(text: PreparedText, name: ComponentName, has_cue: bool = False) -> bool:
    """Return whether marked text is a short name with a capital or a cue, and not mere emphasis."""
    if not 0 < len(name.words) <= _MAX_WORDS:
        return False
    if not text.original[name.start].isupper():
        is_word = text.original[name.start].islower() and name.words[0] not in text.lexicon.function_words
        if not (has_cue and is_word):
            return False
    if name.words[-1] in text.lexicon.keys:
        return False
    if text.original.startswith(":", name.end) and name.words[0] in text.lexicon.function_words:
        return False  # it introduces what follows: "That is how you do it:"
    ends_sentence = text.original.startswith(tuple(STOPS), name.end)
    is_sentence = ends_sentence and len(name.words) >= _MIN_SENTENCE_WORDS
    return not is_sentence and not text.lexicon.emphasis.occurs(name.words, (0,))


def _is_title(text: PreparedText, mark: MarkedSpan) -> bool:
    """Return whether a mark is a heading, a label or the title of a step: "1. **Open the file**: ..."."""
    original = text.original
    earliest = max(text.start, mark.outer_start - _MAX_ITEM_PREFIX)
    line_start = max(original.rfind("\n", earliest, mark.outer_start) + 1, earliest)
    item = _ITEM.fullmatch(original, line_start, mark.outer_start)
    if item is None or line_start == mark.outer_start - _MAX_ITEM_PREFIX:
        return False
    after = original[mark.outer_end : mark.outer_end + 2].lstrip(" ")
    fills_line = after.strip(":. ")[:1] in ("", "\n")
    if fills_line and (item["number"] or not item.group().strip()):
        return True
    if original[mark.start : mark.end].rstrip().endswith(":"):
        return True  # a label, such as "- **Price:** € 10"
    first_word = (word.text for word in split_words(original, mark.start, mark.end)[:1])
    return after.startswith(":") and not text.lexicon.instruction_verbs.isdisjoint(first_word)


_ITEM_BELOW_HEADING = re.compile(r"[ \t]{0,20}(?:[-*+•][ \t]{1,8})?(?:\*\*|__)?")
# "The File Menu", "Het menu Bestand": longer titles name no menu.
_MAX_HEADING_WORDS = 4


def components_below_headings(text: PreparedText) -> Iterator[tuple[ComponentName, ComponentName]]:
    """Yield the name in a heading and each component that starts a line below it, up to the next heading.

    A heading counts where it is short and has a word of ``component_nouns`` ("menu") next to the
    name.
    """
    single = {
        component.parts[0].start: component.parts[0]
        for component in text.cached(components)
        if len(component.parts) == 1
    }
    heading = None
    for start, end in text.lines():
        if marker := HEADING.match(text.original, start, end):
            heading = _heading_name(text, marker.end(), end)
        elif (
            heading
            and (item := _ITEM_BELOW_HEADING.match(text.original, start, end))
            and (component := single.get(item.end()))
        ):
            yield heading, component


def _heading_name(text: PreparedText, start: int, end: int) -> ComponentName | None:
    lexicon = text.lexicon
    heading_words = split_words(text.original, start, end)
    words = tuple(word for word in heading_words if word.text not in lexicon.function_words)
    name = tuple(word.text for word in words if word.text not in lexicon.component_nouns)
    if len(heading_words) > _MAX_HEADING_WORDS or not name or len(name) == len(words):
        return None
    return ComponentName(name, words[0].start, words[-1].end)
