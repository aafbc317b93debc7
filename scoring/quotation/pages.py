"""Published pages that can be quoted whole: plain Markdown below one title."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

#: A longer page is not read.
MOST_CHARACTERS = 50_000
# The parser leaves out what is nested deeper than 20.
_DEEPEST = 10
_REMEMBERED = 64

_LISTS = frozenset({"bullet_list", "ordered_list"})
_FOLLOWS_COLON = _LISTS | {"table", "fence"}
_TYPES = _FOLLOWS_COLON | {
    "paragraph", "list_item", "blockquote", "thead", "tbody", "tr", "th", "td", "inline", "text",
    "code_inline", "link", "em", "strong", "softbreak", "hardbreak",
}  # fmt: skip
# What running text is wrapped to is longer.
_SHORT_LINE = 40
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)*_`]*\Z")
_COLON_END = re.compile(r":[*_]*\Z")
_STRESSED = re.compile(r"[*_].*[*_][.:!?]*")
# What is to be filled in, or hidden, in code too.
_UNFINISHED = re.compile(
    r"\{\{|\}\}|\{%|<%|<!--|\$\{|&#?\w{1,40};|\?\?\?|_{3}|\.{4}|(?i:lorem ipsum)"
    r"|\b(?:T\.?O\.?D\.?O|TBD|TBC|TBA|FIXME|XXX+|TKTK|N\.?T\.?B|n\.t\.b)\b"
)
# Brackets and braces are placeholders; stars, daggers and "(1)" lead to a note that stands elsewhere.
_MARKS = re.compile(r"[\[\]{}<*†‡§]|\([a-z\d]{1,2}\)|%\w{1,40}%|\$[A-Za-z_(]")
_WORD = re.compile(r"[^\W_]+")
_ASCII_DIGITS = frozenset("0123456789")


@dataclass(frozen=True, slots=True)
class Page:
    """All that stands below the title of a page; ``steps`` are the first words of its numbered steps."""

    body: str
    steps: tuple[str, ...]


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
def plain_page(title: str, text: str) -> Page | None:
    """Return a page, in Markdown, that may be quoted; its first line may be a heading that repeats the title.

    None where it is not plain. That is, it has:

    - another heading, or what looks like one: a line in bold or capitals, a short one without a stop, a list
      of one item, a table without rows;
    - HTML, rules, reference definitions, indented code, pictures, struck text, titles of links;
    - footnote marks, placeholders, or characters that cannot be seen (:func:`is_visible`);
    - nothing below its title, or more than ``MOST_CHARACTERS``.
    """
    text, defined = with_plain_line_ends(text), dict[str, object]()
    if not title.strip() or len(text) > MOST_CHARACTERS or not is_visible(title + text):
        return None
    blocks = SyntaxTreeNode(_parser().parse(text, defined)).children
    lines, first = text.split("\n"), 0
    if blocks and blocks[0].type == "heading" and _is_title(blocks[0], title):
        first, blocks = blocks[0].map[1] if blocks[0].map else 0, blocks[1:]
    body = without_outer_lines("\n".join(lines[first:]))
    is_plain = all(_is_plain(node) for block in blocks for node in block.walk())
    if not body or not is_plain or defined.get("references") or _UNFINISHED.search(text):
        return None
    items = (item for block in blocks if block.type == "ordered_list" for item in block.children)
    words = (_WORD.search(_text(item.children[0])) for item in items)
    return Page(body, tuple(word.group().lower() if word else "" for word in words))


def _is_title(heading: SyntaxTreeNode, title: str) -> bool:
    return heading.markup.startswith("#") and _text(heading).split() == title.split()


def _is_plain(node: SyntaxTreeNode) -> bool:
    if node.type not in _TYPES or node.level > _DEEPEST or "title" in node.attrs:
        return False
    if node.type in _LISTS and node.level == 0:
        return len(node.children) > 1 and node.attrs.get("start", 1) == 1
    if node.type == "paragraph":
        return _is_running(node)
    return not (node.type == "text" and _MARKS.search(node.content)) and not (
        node.type == "table" and len(node.children) == 1
    )


def _is_running(paragraph: SyntaxTreeNode) -> bool:
    """Say whether a paragraph is made of sentences, of which the last may be before a list what it is of."""
    *lines, last = [line.strip() for line in _text(paragraph).split("\n")]
    if any(map(_STRESSED.fullmatch, (*lines, last))):
        return False
    if paragraph.parent and paragraph.parent.type == "list_item":
        return True
    following = paragraph.next_sibling
    ends = _SENTENCE_END.search(last) or (
        _COLON_END.search(last) and following and following.type in _FOLLOWS_COLON
    )
    if not ends or any(
        line.isupper() and sum(map(str.isalpha, line)) > len("OK!") for line in (*lines, last)
    ):
        return False
    return all(len(line) >= _SHORT_LINE or _SENTENCE_END.search(line) for line in lines)


def _text(block: SyntaxTreeNode) -> str:
    return block.children[0].content


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])
