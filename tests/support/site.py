"""The pages of the documentation, and the blocks of code in them."""

import re
from typing import NamedTuple

from docs.generate.site.site_pages import ROOT, pages

_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of code: the page that it stands on, by its place in the repository, language and text."""

    page: str
    language: str
    text: str


def text_of(page: str) -> str:
    """Give a page, in Markdown."""
    return (ROOT / page).read_text("utf-8")


def blocks(language: str, *only: str) -> list[Block]:
    """Give all blocks in a language, of some pages or of all, without their indentation."""
    return [block for page in only or pages() for block in blocks_of(page) if block.language == language]


def blocks_of(page: str) -> list[Block]:
    """Give all blocks of a page in their order, without their indentation."""
    return [
        Block(page, found[2], re.sub(rf"^{found[1]}", "", found[3], flags=re.MULTILINE))
        for found in _BLOCK.finditer(text_of(page))
    ]


def command_lines(text: str) -> list[str]:
    """Give the commands of a block of shell, each in one line and without its comment."""
    lines = text.replace("\\\n", " ").splitlines()
    return [command for line in lines if (command := re.sub(r"(^|\s+)#.*", "", line).strip())]
