"""The Markdown of a help page: one vocabulary for DocBook, Mallard and HTML that came from DocBook."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

SECTIONS = frozenset(
    {
        *("book", "part", "chapter", "preface", "appendix", "article", "page"),
        *("section", "sect1", "sect2", "sect3", "sect4", "sect5", "simplesect"),
    }
)
#: What no reader sees, or sees as a picture, or reads elsewhere.
LEFT_OUT = frozenset(
    {
        *("indexterm", "anchor", "footnote", "footnotes", "footnoteref", "remark", "comment", "toc"),
        *("mediaobject", "screenshot", "screenshots", "figure", "informalfigure"),
        *("graphic", "info", "bookinfo", "chapterinfo", "sect1info", "sect2info"),
        *("sect3info", "links", "navheader", "navfooter", "bibliography", "index", "glossary", "refentry"),
        *("revhistory", "desc", "credit", "subtitle", "titleabbrev", "abstract", "hr"),
        *("script", "style", "head", "colgroup", "tfoot", "include"),
    }
)
_COMPONENTS = {"guiicon", "guibutton", "guilabel", "guimenu", "guimenuitem", "guisubmenu", "gui", "interface"}
_PICTURES = {"inlinemediaobject", "inlinegraphic", "img", "media"}
_REFERENCES = {"xref", "link", "ulink"}
_PATHS = {"menuchoice", "guiseq"}
_KEYS = {"keycombo", "keyseq"}
_CODE = {
    *("command", "filename", "code", "userinput", "literal", "option", "computeroutput", "envar", "varname"),
    *(
        "cmd",
        "file",
        "input",
        "output",
        "sys",
        "systemitem",
        "parameter",
        "constant",
        "function",
        "tt",
        "kbd",
    ),
    *("markup", "sgmltag", "prompt"),
}
_CODE_BLOCKS = {"screen", "programlisting", "synopsis", "literallayout", "pre", "cmdsynopsis"}
_ORDERED = {"orderedlist", "procedure", "steps", "substeps", "ol"}
_BULLETS = {"itemizedlist", "simplelist", "list", "tree", "ul"}
_DEFINITIONS = {"variablelist", "terms", "dl", "glosslist", "qandaset", "qandadiv"}
_LISTS = _ORDERED | _BULLETS | _DEFINITIONS
_ITEMS = {"listitem", "step", "item", "li", "member"}
_ENTRIES = {"varlistentry", "glossentry", "qandaentry", "qandadiv", "dt", "dd"}
_TERMS = {"term", "dt", "glossterm", "question", "title"}
_TABLES = {"table", "informaltable"}
_PARAGRAPHS = {
    *("para", "simpara", "formalpara", "p", "div", "blockquote", "note", "tip", "warning", "caution"),
    *(
        "important",
        "example",
        "informalexample",
        "bridgehead",
        "synopsis",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
    ),
}
_BLOCKS = SECTIONS | _LISTS | _ITEMS | _TABLES | _PARAGRAPHS | _CODE_BLOCKS | {"title"}
_HEADINGS = {"bridgehead", "h1", "h2", "h3", "h4", "h5", "h6"}
_ADMONITIONS = {"note", "tip", "warning", "caution", "important"}

# Where a picture stands for a word, until it is known whether the word stands beside it.
_PICTURE = "\ufffc"
_ICON = "[icon]"
_BESIDE_NAME = re.compile(rf"(?:{_PICTURE} ?)+(?=\*\*)|(?<=\*\*)(?: ?{_PICTURE})+")
_BEFORE_SENTENCE = re.compile(rf"^(?:{_PICTURE} ?)+(?=[A-Z])")
_SPACES = re.compile(r"\s+")
_ARROW = re.compile(r"\*\* ?(?:→|⇒|->|▸|—>|&gt;|>) ?\*\*")
_QUOTED = re.compile(r"“[^“”]+”")
_EMPTY_BOLD = re.compile(r"\*\*\s*\*\*")
_BEFORE_STOP = re.compile(r"(?<=[\w*`”)]) +([.,;:!?](?:\s|$))")
_EMPTY_BRACKETS = re.compile(r"\s*\(\s*\)")
_LONGEST_BOLD_TERM = 6


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a page; ``kind`` is paragraph, heading, list, code or table."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Writer:
    """What is needed to write a page: the titles that references name, and whether bare terms are components.

    Where a manual marks the names of options by nothing but their place before a definition (GIMP's does),
    ``bold_terms`` makes these names bold.
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    bold_terms: bool = False

    def page(self, section: Element) -> str:
        """Return a page of Markdown: its title as the first heading, then what the section has.

        >>> from xml.etree.ElementTree import fromstring
        >>> section = "<section><title>A</title><para>Click <guibutton>B</guibutton>.</para></section>"
        >>> print(Writer().page(fromstring(section)))
        # A
        <BLANKLINE>
        Click **B**.
        """
        title = f"# {self.title(section)}"
        return "\n\n".join([title, *(block.text for block in self._inner(section, 1) if block.text)])

    def title(self, section: Element) -> str:
        """Return the title of a section as plain text, empty where there is none."""
        found = section.find("title")
        text = "" if found is None else plain(self._inline(found))
        return text[1:-1] if _QUOTED.fullmatch(text) else text

    def _inner(self, element: Element, level: int) -> list[Block]:
        """Return the blocks of an element's children; its own title is left out where it is a section."""
        blocks: list[Block] = []
        run: list[str] = [element.text or ""]

        def flush() -> None:
            text = _BEFORE_SENTENCE.sub("", _tidy("".join(run))).replace(_PICTURE, _ICON)
            if text.replace(_ICON, "").strip(" .,"):
                blocks.append(Block("paragraph", text))
            run.clear()

        for child in element:
            if is_block(child):
                flush()
                blocks.extend(self._block(child, element, level))
            elif child.tag != "media" or element.tag == "p":  # elsewhere it stands beside the text
                run.append(self._inline_child(child))
            run.append(child.tail or "")
        flush()
        return blocks

    def _block(self, element: Element, parent: Element, level: int) -> list[Block]:
        match element.tag:
            case "title":
                blocks = [] if parent.tag in SECTIONS | _ADMONITIONS else self._named(element)
            case tag if tag in SECTIONS:
                blocks = [_heading(self.title(element), level), *self._inner(element, level + 1)]
            case tag if tag in _HEADINGS:
                named = parent.tag in _ADMONITIONS  # "Note", "Warning"
                blocks = [] if named else [_heading(plain(self._inline(element)), level)]
            case tag if tag in _CODE_BLOCKS:
                blocks = [Block("code", f"```\n{_code_lines(element)}\n```")]
            case tag if tag in _LISTS:
                blocks = self._list(element, level)
            case tag if tag in _TABLES:
                blocks = self._table(element, level)
            case _:
                blocks = self._inner(element, level)
        return blocks

    def _named(self, title: Element) -> list[Block]:
        text = plain(self._inline(title))
        return [Block("paragraph", text if text[-1] in ".:?!" else f"{text}:")] if text else []

    def _list(self, element: Element, level: int) -> list[Block]:
        before = [
            block
            for child in element
            if child.tag not in _ITEMS | _ENTRIES and is_block(child)
            for block in self._block(child, element, level)
        ]
        items = list(self._items(element, level))
        ordered = element.tag in _ORDERED or element.get("type") == "numbered"
        lines = [_item(f"{number}. " if ordered else "- ", item) for number, item in enumerate(items, 1)]
        return [*before, Block("list", "\n".join(lines))] if lines else before

    def _items(self, element: Element, level: int) -> Iterator[list[Block]]:
        if element.tag in _DEFINITIONS:
            for terms, bodies in _definitions(element):
                yield self._defined(terms, bodies, level)
            return
        for child in element:
            if child.tag in _ITEMS and (blocks := [b for b in self._inner(child, level) if b.text]):
                yield blocks

    def _defined(self, terms: list[Element], bodies: list[Element], level: int) -> list[Block]:
        names = [self._term(term) for term in terms]
        name = ", ".join(name for name in names if name)
        blocks = [block for body in bodies for block in self._inner(body, level) if block.text]
        if not name:
            return blocks
        stop = "" if name.endswith((":", "?")) else ":"
        if blocks and blocks[0].kind == "paragraph":
            return [Block("paragraph", f"{name}{stop} {blocks[0].text}"), *blocks[1:]]
        return [Block("paragraph", f"{name}{stop if blocks else ''}"), *blocks]

    def _term(self, term: Element) -> str:
        text = _tidy(self._inline(term)).replace(_PICTURE, "").strip()
        marked = "**" in text or "`" in text or text.endswith(("?", ".", ":"))
        marked = marked or term.find(".//keycap") is not None
        bare = self.bold_terms and not marked and len(text.split()) <= _LONGEST_BOLD_TERM
        return _bold(text) if bare else text

    def _table(self, element: Element, level: int) -> list[Block]:
        named = [block for title in element.findall("title") for block in self._named(title)]
        rows = [
            [self._cell(cell, level) for cell in row if cell.tag in {"entry", "td", "th"}]
            for row in element.iter()
            if row.tag in {"row", "tr"}
        ]
        rows = [row for row in rows if any(row)]
        if not rows:
            return named
        has_head = any(child.tag in {"thead", "th"} for child in element.iter())
        width = max(map(len, rows))
        head, body = (rows[0], rows[1:]) if has_head else ([""] * width, rows)
        lines = [head, ["---"] * width, *body]
        return [*named, Block("table", "\n".join(f"| {' | '.join(_filled(row, width))} |" for row in lines))]

    def _cell(self, cell: Element, level: int) -> str:
        text = " ".join(block.text for block in self._inner(cell, level))
        return _SPACES.sub(" ", text).replace("|", "\\|").strip()

    def _inline(self, element: Element) -> str:
        parts = [element.text or ""]
        for child in element:
            parts += [self._inline_child(child), child.tail or ""]
        return "".join(parts)

    def _inline_child(self, element: Element) -> str:
        match element.tag:
            case tag if tag in LEFT_OUT:
                text = ""
            case tag if tag in _PICTURES:
                text = _PICTURE
            case "br":
                text = " "
            case tag if tag in _PATHS:
                text = self._path(element)
            case tag if tag in _KEYS:
                text = self._keys(element)
            case tag:
                inner = self._inline(element)
                text = _INLINE[tag](inner) if tag in _INLINE else inner
        return text if text.strip() or element.tag not in _REFERENCES else self._referred(element)

    def _keys(self, element: Element) -> str:
        one_by_one = element.get("type") == "sequence" or element.get("action") == "seq"
        keys = [plain(self._inline_child(key)) for key in element]
        return (" " if one_by_one else "+").join(filter(None, keys))

    def _path(self, element: Element) -> str:
        keys = [self._inline(child) for child in element if child.tag == "shortcut"]
        # A path's last name at times ends in the arrow of its submenu.
        steps = [
            plain(self._inline_child(child)).removesuffix(">").rstrip()
            for child in element
            if child.tag != "shortcut"
        ]
        path = _bold(" / ".join(step for step in steps if step))
        shortcut = _tidy("".join(keys))
        return f"{path} ({plain(shortcut)})" if shortcut and path else path or plain(shortcut)

    def _referred(self, element: Element) -> str:
        target = element.get("linkend") or element.get("xref") or ""
        page, _, section = target.partition("#")
        title = self.titles.get(section) or self.titles.get(page) or ""
        return f"“{title}”" if title else element.get("href") or element.get("url") or ""


def _heading(title: str, level: int) -> Block:
    return Block("heading", f"{'#' * min(level + 1, 6)} {title}")


def is_block(element: Element) -> bool:
    """Tell whether an element is a block of its own or holds one, and is not left out."""
    if element.tag in LEFT_OUT:
        return False
    return element.tag in _BLOCKS or any(is_block(child) for child in element)


def plain(markdown: str) -> str:
    """Return the text without the marks of components and code, on one line."""
    return _tidy(markdown.replace("**", "").replace("`", "").replace(_PICTURE, ""))


def _bold(text: str) -> str:
    bare = plain(text)
    return f"**{bare}**" if bare else ""


def _spaced(text: str, write: Callable[[str], str]) -> str:
    """Write ``text`` with a mark, its outer spaces outside of the mark."""
    bare = text.strip()
    if not bare:
        return text
    before, _, after = text.partition(bare)
    return f"{before and ' '}{write(bare)}{after and ' '}"


def _code(text: str) -> str:
    return f"`{plain(text)}`" if plain(text) else ""


_INLINE: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(_COMPONENTS, lambda text: _spaced(text, _bold)),
    **dict.fromkeys(_CODE, lambda text: _spaced(text, _code)),
    "quote": lambda text: f"“{text.strip()}”",
}


def _tidy(text: str) -> str:
    text = _SPACES.sub(" ", text).strip()
    text = _BESIDE_NAME.sub("", _ARROW.sub(" / ", text))
    text = _EMPTY_BRACKETS.sub("", _EMPTY_BOLD.sub("", text))
    return _BEFORE_STOP.sub(r"\1", text)


def _code_lines(element: Element) -> str:
    lines = "".join(element.itertext()).expandtabs(4).strip("\n").rstrip().splitlines()
    return "\n".join(line.rstrip() for line in lines)


def _filled(row: list[str], width: int) -> Iterable[str]:
    return [*row, *[""] * (width - len(row))]


def _definitions(element: Element) -> Iterator[tuple[list[Element], list[Element]]]:
    """Yield the terms and bodies of a list of definitions, of whichever of the three formats."""
    terms: list[Element] = []
    for child in element:
        if child.tag == "qandadiv":
            yield from _definitions(child)
        elif child.tag in {"varlistentry", "glossentry", "qandaentry", "item"}:
            named = [part for part in child if part.tag in _TERMS]
            if child.tag == "item":  # Mallard has the body beside the title
                body = Element("item")
                body.extend(part for part in child if part.tag != "title")
                yield named, [body]
            else:
                yield named, [part for part in child if part.tag not in _TERMS]
        elif child.tag == "dt":
            terms.append(child)
        elif child.tag == "dd":
            yield terms, [child]
            terms = []


def _item(marker: str, blocks: list[Block]) -> str:
    """Return a list's item; its paragraphs run on, since a help page's item is one step or one remark."""
    text, before = "", ""
    for block in blocks:
        runs_on = block.kind == "paragraph" and before == "paragraph"
        text += (
            (" " if runs_on else "\n" if block.kind == "list" else "\n\n" if before else "") if text else ""
        )
        text += block.text
        before = block.kind
    indent = " " * len(marker)
    first, *rest = text.split("\n")
    return "\n".join([marker + first, *(indent + line if line else "" for line in rest)])
