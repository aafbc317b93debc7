"""HTML pages converted to Markdown: headings, steps and emphasised names, which answers quote."""

import re
from collections.abc import Iterator
from typing import Final

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, PreformattedString, Tag

from streams.documents.markdown_page import HelpPage

_HEADINGS: Final = {f"h{level}": "#" * level for level in range(1, 7)}
_MARKS: Final = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("em", "i"), "*"),
    **dict.fromkeys(("code", "kbd", "samp"), "`"),
}
_BLOCKS: Final = frozenset(
    {"address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog"}
    | {"div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "html"}
    | {"li", "main", "p", "section", "summary", "tbody", "td", "tfoot", "th", "thead", "tr"}
)
# Elements around the content, and elements without text.
_IGNORED_TAGS: Final = frozenset(
    {"head", "iframe", "nav", "noscript", "script", "style", "svg", "template", "title", "button", "select"}
)
_SURROUNDING_TAGS: Final = frozenset({"aside", "footer", "header"})
_BLANKS: Final = re.compile(r"[ \t\r\n\f]+")


def read_html(content: bytes) -> HelpPage:
    """Read the content of a page: ``main``, or its only ``article``, or everything but what surrounds it.

    The title is the first heading, or that of the page; the language is that of its ``lang``. A page cannot
    be marked for automatic sending: a browser may show a text that differs from the one read here.

    Args:
        content: the file; its encoding is detected as browsers do.

    Raises:
        RecursionError: the elements are nested too deeply.
    """
    soup = BeautifulSoup(content, "html.parser")
    whole = soup.find("html")
    text = "\n\n".join(_blocks(_main_content(soup)))
    return HelpPage(
        text + "\n" if text else "",
        _text_of(soup.find(list(_HEADINGS))) or _text_of(soup.find("title")),
        _attribute(whole, "lang"),
        _attribute(soup.find("link", rel="canonical"), "href"),
    )


def _main_content(soup: BeautifulSoup) -> Tag:
    if isinstance(main := soup.find("main"), Tag):
        return main
    articles = soup.find_all("article")
    if len(articles) == 1:
        return articles[0]
    for around in soup.find_all(_SURROUNDING_TAGS):
        around.decompose()
    return soup


def _blocks(tag: Tag) -> Iterator[str]:
    """Yield the paragraphs, headings, lists and tables of an element, in order."""
    running = ""
    for child in tag.children:
        if (block := _block(child)) is None:
            running += _inline(child)
            continue
        yield from _paragraph(running)
        running = ""
        yield from block
    yield from _paragraph(running)


def _block(node: PageElement) -> Iterator[str] | None:
    """Return the blocks of a child, or None if it is part of the running text."""
    if not isinstance(node, Tag):
        return None
    if node.name in _HEADINGS:
        return (
            f"{_HEADINGS[node.name]} {' '.join(text.split())}" for text in _paragraph(_inline_children(node))
        )
    if node.name in {"ul", "ol"}:
        return _list(node)
    if node.name == "pre":
        return iter((f"```\n{node.get_text().strip()}\n```",))
    if node.name == "table":
        return _table(node)
    return _blocks(node) if node.name in _BLOCKS else None


def _list(tag: Tag) -> Iterator[str]:
    items = []
    for number, item in enumerate(tag.find_all("li", recursive=False), _start(tag)):
        mark = f"{number}. " if tag.name == "ol" else "- "
        lines = "\n".join(_blocks(item)).split("\n")
        items.append(mark + f"\n{' ' * len(mark)}".join(lines))
    if items:
        yield "\n".join(items)


def _start(tag: Tag) -> int:
    start = str(tag.get("start", ""))
    return int(start) if start.isascii() and start.isdigit() else 1


def _table(tag: Tag) -> Iterator[str]:
    rows = (row.find_all(["td", "th"], recursive=False) for row in tag.find_all("tr"))
    lines = [
        f"| {' | '.join(' '.join(' '.join(_blocks(cell)).split()) for cell in row)} |" for row in rows if row
    ]
    if lines:
        columns = lines[0].count(" | ") + 1
        yield "\n".join([lines[0], f"|{'---|' * columns}", *lines[1:]])


def _paragraph(text: str) -> Iterator[str]:
    lines = [_BLANKS.sub(" ", line).strip() for line in text.split("\v")]
    if any(lines):
        yield "\n".join(filter(None, lines))


def _inline(node: PageElement) -> str:
    """Return running text, with a vertical tab for a line break; all other white space is equivalent."""
    if isinstance(node, NavigableString):
        return "" if isinstance(node, PreformattedString) else node.replace("\v", " ")
    if not isinstance(node, Tag) or node.name in _IGNORED_TAGS:
        return ""
    if node.name == "br":
        return "\v"
    if node.name == "img":
        return str(node.get("alt", ""))
    text = _inline_children(node)
    mark = _MARKS.get(node.name, "")
    if not mark or not text.strip() or "\v" in text:
        return text
    # White space belongs outside the mark: Markdown has no emphasis that begins with it.
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{mark}{text.strip()}{mark}{after}"


def _inline_children(tag: Tag) -> str:
    return "".join(map(_inline, tag.children))


def _text_of(tag: PageElement | None) -> str | None:
    return " ".join(tag.get_text().split()) or None if isinstance(tag, Tag) else None


def _attribute(tag: PageElement | None, name: str) -> str | None:
    return str(tag[name]).strip() or None if isinstance(tag, Tag) and tag.has_attr(name) else None
