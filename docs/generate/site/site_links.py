"""Rewriting of a page's links from the repository to the site."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from typing import Final

#: The folder with copies of linked files that are not pages: schemas, sample files.
FILES: Final = "files"

_CODE: Final = re.compile(r"^ *```.*?^ *```[ ]*$|`[^`]+`", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_ELSEWHERE: Final = re.compile(r"[a-z][a-z+.-]*:|//")


def links(text: str) -> Iterator[str]:
    """Yield the targets of a page's links, except those in code and external ones."""
    for found in _links(text):
        yield found[2]


def target(source: str, link: str) -> tuple[str, str]:
    """Return the path in the repository, and the anchor or "", of a link of the page at ``source``."""
    path, _, anchor = link.partition("#")
    return (posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else source), anchor


def broken_links(text: str, source: str, is_there: Callable[[str], bool]) -> Iterator[str]:
    """Return the links of the page at ``source`` whose target is not in the repository."""
    return (link for link in links(text) if not is_there(target(source, link)[0]))


def rewrite_links(text: str, source: str, pages: Mapping[str, str], is_file: Callable[[str], bool]) -> str:
    """Rewrite the links of a page to pages or copies of files; any other link becomes plain text.

    Args:
        text: the page, in Markdown.
        source: its place in the repository.
        pages: places on the site by places in the repository.
        is_file: whether there is a file at a place in the repository.
    """

    def one(found: re.Match[str]) -> str:
        place, anchor = target(source, found[2])
        there = pages.get(place) or (f"{FILES}/{place}" if is_file(place) else None)
        if there is None:
            return found[1]
        way = "" if place == source else _relative_path(pages[source], there)
        return f"[{found[1]}]({way}{f'#{anchor}' if anchor else ''})"

    parts, end = [], 0
    for found in _links(text):
        parts += [text[end : found.start()], one(found)]
        end = found.end()
    return "".join([*parts, text[end:]])


def _links(text: str) -> Iterator[re.Match[str]]:
    code = [found.span() for found in _CODE.finditer(text)]
    for found in _LINK.finditer(text):
        middle = found.start(2)
        if not _ELSEWHERE.match(found[2]) and not any(start <= middle < end for start, end in code):
            yield found


def _relative_path(start: str, end: str) -> str:
    """Return the relative path from one page to another; ``os.path`` would use the system's separators."""
    here, there = start.split("/")[:-1], end.split("/")
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(here, there[:-1], strict=False))))
    return "/".join([*[".."] * (len(here) - shared), *there[shared:]])
