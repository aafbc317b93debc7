"""The sections of a published page that say by themselves what they are about."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

#: A longer page is not read.
MOST_CHARACTERS = 50_000
# The parser leaves out what is nested deeper than 20.
_DEEPEST = 10
_LOWEST_LEVEL = 6
_REMEMBERED = 64

_BLOCKS = frozenset(
    f"{name}_{end}"
    for name in (
        "heading", "paragraph", "bullet_list", "ordered_list", "list_item", "blockquote",
        "table", "thead", "tbody", "tr", "th", "td",
    )
    for end in ("open", "close")
) | {"inline", "fence"}  # fmt: skip
_FOLLOWS_COLON = frozenset({"bullet_list_open", "ordered_list_open", "table_open", "fence"})
_LISTS = frozenset({"bullet_list_open", "ordered_list_open"})
_STRESS = {"em_open": 1, "strong_open": 1, "em_close": -1, "strong_close": -1}
_BREAKS = frozenset({"softbreak", "hardbreak"})
_INLINE = frozenset({"text", "code_inline", "link_open", "link_close", *_STRESS, *_BREAKS})
# What running text is wrapped to is longer.
_SHORT_LINE = 40
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)*_`]*\Z")
_COLON_END = re.compile(r":[*_]*\Z")
# What is to be filled in, or hidden, in code too.
_UNFINISHED = re.compile(
    r"\{\{|\}\}|\{%|<%|<!--|\$\{|&#?\w{1,40};|\?\?\?|_{3}|\.{4}|(?i:lorem ipsum)"
    r"|\b(?:T\.?O\.?D\.?O|TBD|TBC|TBA|FIXME|XXX+|TKTK|N\.?T\.?B|n\.t\.b)\b"
)
# Brackets and braces are placeholders; stars, daggers and "(1)" lead to a note that stands elsewhere.
_MARKS = re.compile(r"[\[\]{}<*†‡§]|\(\d{1,2}\)|%\w{1,40}%|\$[A-Za-z_(]")
_ASCII_DIGITS = frozenset("0123456789")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and all that stands below it; ``line`` is that of the heading, None where the title is it."""

    heading: str
    body: str
    line: int | None


def with_plain_line_ends(text: str) -> str:
    r"""Return the text with ``\n`` at the end of each line."""
    return text.replace("\r\n", "\n")


def without_outer_lines(text: str) -> str:
    """Return the text without the blank lines before its first and after its last one that is not."""
    lines = with_plain_line_ends(text).split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def is_visible(text: str) -> bool:
    """Say whether every character can be seen for what it is: Latin letters, ASCII digits, signs, spaces.

    Letters of other scripts look like them, and what is invisible or combines changes what is read.
    """
    return all(map(_is_visible, set(text)))


def _is_visible(character: str) -> bool:
    if character in " \n\t":
        return True
    category = unicodedata.category(character)
    if category.startswith("L"):
        return category in {"Lu", "Ll"} and unicodedata.name(character, "").startswith("LATIN ")
    if category == "Nd":
        return character in _ASCII_DIGITS
    # U+2800 is a sign without a dot, and U+1D159 a note without a head.
    return category[0] in "PS" and character not in "\u2800\U0001d159"


@lru_cache(_REMEMBERED)
def plain_sections(title: str, text: str) -> tuple[Section, ...]:
    """Return the sections of a page, in Markdown, that may be quoted alone, in order.

    None where the page is not plain: it has HTML, rules, reference definitions, indented code, text before
    the first heading, underlined headings or headings within lists, headings with nothing below them, what
    only looks like a heading (a line in bold or capitals, a short one without a stop, a list of one item, a
    table without rows), or characters that cannot be seen (:func:`is_visible`); or it is longer than
    ``MOST_CHARACTERS``.

    Otherwise those without footnote marks, placeholders, pictures or struck text that

    - stand below the title alone, which is the first heading where that says the same as ``title``, with
      nothing between the title and the first section, since that may say for whom all of it holds;
    - do not go on in deeper ones.

    A page without headings is one section below its title.
    """
    if not title.strip() or len(text) > MOST_CHARACTERS:
        return ()
    page = _read(title, with_plain_line_ends(text))
    return tuple(page.quotable()) if page and page.is_plain() else ()


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading: its text, level and line, and its place among the tokens, of which it is three."""

    text: str
    level: int
    line: int
    index: int

    @property
    def after(self) -> int:
        return self.index + 3


@dataclass(frozen=True, slots=True)
class _Page:
    title: str
    lines: Sequence[str]
    tokens: Sequence[Token]
    headings: Sequence[_Heading]

    @property
    def is_titled(self) -> bool:
        """Whether the first heading is the title."""
        return bool(self.headings) and _folded(self.headings[0].text) == _folded(self.title)

    def is_plain(self) -> bool:
        if not all(is_visible(line) for line in (self.title, *self.lines)):
            return False
        if any(token.type not in _BLOCKS or token.level > _DEEPEST for token in self.tokens):
            return False
        if any(token.type == "heading_open" and not _is_plain_heading(token) for token in self.tokens):
            return False
        if self.headings and self.headings[0].index:
            return False
        ends = (*(each.index for each in self.headings[1:]), len(self.tokens))
        empty = [each.after == end for each, end in zip(self.headings, ends, strict=False)]
        return not any(empty[self.is_titled :]) and not any(_pseudo_headings(self.tokens))

    def quotable(self) -> Iterator[Section]:
        if not self.headings:
            yield from self._plain_section(self.title, None, 0, len(self.lines), self.tokens)
            return
        end = _Heading("", 0, len(self.lines), len(self.tokens))
        highest = _LOWEST_LEVEL
        for place, (heading, following) in enumerate(pairwise((*self.headings, end))):
            is_title = self.is_titled and place == 0
            if heading.level <= highest and following.level <= heading.level:
                tokens = self.tokens[heading.after : following.index]
                start = heading.line + 1
                yield from self._plain_section(heading.text, heading.line, start, following.line, tokens)
            if is_title and following.index != heading.after:
                return
            highest = highest if is_title else min(highest, heading.level)

    def _plain_section(
        self, heading: str, line: int | None, start: int, end: int, tokens: Sequence[Token]
    ) -> Iterator[Section]:
        body = without_outer_lines("\n".join(self.lines[start:end]))
        inline = [child for token in tokens for child in token.children or ()]
        texts = [heading, *(child.content for child in inline if child.type == "text")]
        if not body or _UNFINISHED.search(f"{heading}\n{body}") or any(map(_MARKS.search, texts)):
            return
        # The title of a link is shown to those alone who point at it.
        if all(child.type in _INLINE and "title" not in child.attrs for child in inline):
            yield Section(heading, body, line)


def _read(title: str, text: str) -> _Page | None:
    """Read a page, or return None where it defines references, which are no part of what is shown."""
    defined: dict[str, object] = {}
    tokens = _parser().parse(text, defined)
    if defined.get("references"):
        return None
    headings = [
        _Heading(tokens[index + 1].content, int(token.tag[1:]), token.map[0], index)
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.map
    ]
    return _Page(title, text.split("\n"), tokens, headings)


def _is_plain_heading(token: Token) -> bool:
    """Say whether a heading is marked by number signs and stands in no list or quotation."""
    return token.level == 0 and token.markup.startswith("#")


def _pseudo_headings(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield what only looks like a heading, outside of tables."""
    within: list[str] = []
    for index, token in enumerate(tokens):
        if token.nesting:
            within = [*within, token.type] if token.nesting > 0 else within[:-1]
        if token.type in _LISTS and token.level == 0 and _is_one_item(tokens, index):
            yield token
        if token.type == "thead_close" and tokens[index + 1].type == "table_close":
            yield token
        if token.type != "inline" or within[-1] in {"th_open", "td_open", "heading_open"}:
            continue
        after = tokens[index + 2].type if index + 2 < len(tokens) else ""
        is_running = "list_item_open" in within or _is_running(token.content, after)
        if not is_running or any(map(_is_stressed, _lines_of(token.children or ()))):
            yield token


def _is_one_item(tokens: Sequence[Token], index: int) -> bool:
    """Say whether a list has one item, or does not begin at 1, as where a line divides it."""
    level, items = tokens[index].level, 0
    for token in tokens[index + 1 :]:
        if token.level == level:
            break
        items += token.type == "list_item_open" and token.level == level + 1
    return items == 1 or tokens[index].attrs.get("start", 1) != 1


def _lines_of(children: Sequence[Token]) -> Iterator[list[tuple[str, bool]]]:
    """Yield the texts of each line, and whether they are stressed."""
    line, depth = list[tuple[str, bool]](), 0
    for child in children:
        depth += _STRESS.get(child.type, 0)
        if child.type in _BREAKS:
            yield line
            line = []
        elif child.content:
            line.append((child.content, depth > 0))
    yield line


def _is_stressed(line: Sequence[tuple[str, bool]]) -> bool:
    plain = "".join(text for text, is_stressed in line if not is_stressed)
    return any(is_stressed for _, is_stressed in line) and not any(map(str.isalnum, plain))


def _is_running(content: str, after: str) -> bool:
    """Say whether a paragraph is made of sentences, of which the last may be before a list what it is of."""
    *lines, last = [line.strip() for line in content.split("\n")]
    if any(line.isupper() and sum(map(str.isalpha, line)) > len("OK!") for line in (*lines, last)):
        return False
    if not (_SENTENCE_END.search(last) or (_COLON_END.search(last) and after in _FOLLOWS_COLON)):
        return False
    return all(len(line) >= _SHORT_LINE or _SENTENCE_END.search(line) for line in lines)


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])
