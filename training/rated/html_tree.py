"""The tree of an HTML page that was made from DocBook, with DocBook's names where a class has kept them."""

import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, PreformattedString, Tag

_SECTIONS = {"book", "part", "chapter", "preface", "appendix", "section"}
_KEPT = {
    *("guibutton", "guilabel", "guimenu", "guimenuitem", "guisubmenu", "guiicon", "command", "filename"),
    *(
        "indexterm",
        "mediaobject",
        "inlinemediaobject",
        "figure",
        "toc",
        "footnote",
        "footnotes",
        "footnoteref",
    ),
    *("navheader", "navfooter", "bibliography", "index", "glossary", "refentry", "term", "keycap", "screen"),
    *("programlisting", "literallayout", "note", "tip", "warning", "caution", "important"),
}
_ADMONITIONS = {"note", "tip", "warning", "caution", "important"}
_NUMBER = re.compile(
    r"^(?:(?:Hoofdstuk|Chapter|Bijlage|Appendix|Deel|Part)\s+)?(?:[0-9]+|[A-Z]|[IVX]+)(?:\.[0-9]+)*\.\s+"
)
_NUMBERED_REFERENCE = re.compile(
    r"^(?:Section|Paragraaf|paragraaf|Chapter|Hoofdstuk|Appendix|Bijlage)\s+[0-9A-Z.]+,\s+(?=“)"
)


def read_html(path: Path) -> Element:
    """Return the body of ``path``; its sections are ``section`` with a ``title`` that has no number."""
    soup = BeautifulSoup(path.read_bytes(), "html.parser")
    made = Element("page")
    _add_all(made, (soup.body or soup).children)
    return made


def _add_all(parent: Element, children: Iterable[PageElement]) -> None:
    for child in children:
        if isinstance(child, Tag):
            _add(parent, child)
        elif isinstance(child, NavigableString) and not isinstance(child, PreformattedString):
            _add_text(parent, str(child))


def _add_text(parent: Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def _add(parent: Element, tag: Tag) -> None:
    name = _name(tag)
    if name == "titlepage":
        _add_title(parent, tag)
    elif name in _ADMONITIONS and (cell := tag.select_one("tr:nth-of-type(2) > td")):
        _add_all(SubElement(parent, "note"), cell.children)
    elif name == "xref":
        _add_text(parent, _NUMBERED_REFERENCE.sub("", " ".join(tag.get_text().split())))
    else:
        _add_all(SubElement(parent, name), tag.children)


def _add_title(parent: Element, tag: Tag) -> None:
    heading = tag.find(re.compile(r"^h[1-6]$"))
    if isinstance(heading, Tag):
        title = SubElement(parent, "title")
        _add_all(title, heading.children)
        _without_number(title)


def _without_number(title: Element) -> None:
    # The number is the first text that there is: before all elements or behind an anchor.
    if title.text and title.text.strip():
        title.text = _NUMBER.sub("", title.text.lstrip())
    elif len(title) and title[0].tail:
        title[0].tail = _NUMBER.sub("", title[0].tail.lstrip())


def _name(tag: Tag) -> str:
    classes = [str(each) for each in tag.get_attribute_list("class") if each]
    for name in classes:
        if name in _SECTIONS or re.fullmatch(r"(?:ref)?sect[1-5]", name):
            return "section" if tag.name == "div" else tag.name
        if name in _KEPT or name in {"titlepage", "xref"}:
            return name
    return str(tag.name)
