"""Help pages in Markdown and HTML, read as Markdown."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt


@dataclass(frozen=True, slots=True)
class HelpPage:
    """The text of a page in Markdown, and what the page says of itself; None where it does not."""

    text: str
    title: str | None = None
    language: str | None = None
    url: str | None = None
    auto_send: str | None = None


_FENCE: Final = re.compile(r"---[ \t]*\r?\n")
_END: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


def read_markdown(content: str) -> HelpPage:
    """Read a page and what its front matter, between ``---``, says.

    That is ``language`` or ``lang``, ``title``, ``url`` and ``auto_send``. Without a title there it is the
    first heading.
    """
    said, text = _split_front_matter(content)
    return HelpPage(
        text,
        said.get("title") or _first_heading(text),
        said.get("language") or said.get("lang"),
        said.get("url"),
        said.get("auto_send"),
    )


def _split_front_matter(content: str) -> tuple[Mapping[str, str], str]:
    """Divide front matter from the text; a page may begin with a rule that only looks like it."""
    if not (begin := _FENCE.match(content)) or not (end := _END.search(content, begin.end())):
        return {}, content
    entries = (line.partition(":") for line in content[begin.end() : end.start()].splitlines())
    # Nested values, lists and texts of several lines say nothing of what is looked for.
    said = {key.rstrip().lower(): _unquoted(value.strip()) for key, _, value in entries if key[:1].isalpha()}
    return said, content[end.end() :].lstrip("\r\n")


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
