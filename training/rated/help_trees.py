"""The trees of help pages: HTML that was made from DocBook, under its names, and XML."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, TreeBuilder
from xml.parsers import expat

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


_CUSTOMIZATION = "usr/share/kf5/kdoctools/customization"


def read_xml(path: Path, root: Path) -> Element:
    """Return the tree of ``path`` without name spaces; ``root`` is where the packages are unpacked.

    Raises:
        xml.parsers.expat.ExpatError: the file is not well-formed.
        FileNotFoundError: a file that it includes is missing.
    """
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.SetBase(str(path.parent))
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
    parser.ordered_attributes = False
    parser.StartElementHandler = lambda tag, attributes: builder.start(
        _local(tag), {_local(name): value for name, value in attributes.items()}
    )
    parser.EndElementHandler = lambda tag: builder.end(_local(tag))
    parser.CharacterDataHandler = builder.data
    parser.ExternalEntityRefHandler = _included(parser, root)
    parser.Parse(path.read_bytes(), True)
    return builder.close()


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _included(
    parser: expat.XMLParserType, root: Path
) -> Callable[[str | None, str | None, str | None, str | None], int]:
    def parse(context: str | None, base: str | None, system_id: str | None, _public_id: str | None) -> int:
        if system_id is None:
            return 1
        path = _located(system_id, Path(base or "."), root)
        child = parser.ExternalEntityParserCreate(context)
        child.SetBase(str(path.parent))
        child.ExternalEntityRefHandler = _included(child, root)
        child.Parse(path.read_bytes(), True)
        return 1

    return parse


def _located(system_id: str, base: Path, root: Path) -> Path:
    if system_id.startswith("dtd/"):
        return root / _CUSTOMIZATION / system_id
    path = root / system_id[1:] if system_id.startswith("/") else base / system_id
    # A package's absolute link means a place of the system that it would be installed in.
    return root / str(path.readlink())[1:] if path.is_symlink() and path.readlink().is_absolute() else path
