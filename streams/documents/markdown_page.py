"""Help pages as Markdown: the page and its metadata."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt


@dataclass(frozen=True, slots=True)
class HelpPage:
    """A page's text in Markdown, and the metadata it states; None for what it does not state."""

    text: str
    title: str | None = None
    language: str | None = None
    url: str | None = None
    auto_send: str | None = None


_FENCE: Final = re.compile(r"---[ \t]*\r?\n")
_END: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


def read_markdown(content: str) -> HelpPage:
    """Read a page with the front matter between its ``---`` lines.

    That may have ``language`` or ``lang``, ``title``, ``url`` and ``auto_send``. The default title is the
    first heading.
    """
    metadata, text = _split_front_matter(content)
    return HelpPage(
        text,
        metadata.get("title") or _first_heading(text),
        metadata.get("language") or metadata.get("lang"),
        metadata.get("url"),
        metadata.get("auto_send"),
    )


def _split_front_matter(content: str) -> tuple[Mapping[str, str], str]:
    """Split front matter from the text; a page may also begin with a horizontal rule."""
    if not (begin := _FENCE.match(content)) or not (end := _END.search(content, begin.end())):
        return {}, content
    entries = (line.partition(":") for line in content[begin.end() : end.start()].splitlines())
    # Nested values, lists and multi-line texts are not metadata that is looked for.
    metadata = {
        key.rstrip().lower(): _unquoted(value.strip()) for key, _, value in entries if key[:1].isalpha()
    }
    return metadata, content[end.end() :].lstrip("\r\n")


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1].strip() if quoted else value.partition(" #")[0].strip()


def _first_heading(text: str) -> str | None:
    tokens = _reader().parse(text)
    for before, token in pairwise(tokens):
        if before.type == "heading_open" and token.content:
            return token.content
    return None


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("zero").enable(["heading", "lheading", "fence", "code"])
