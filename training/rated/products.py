"""The products of the corpus: which Debian packages have their help, where, and under which licence."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree.ElementTree import Element

from training.rated.help_trees import read_html, read_xml

LANGUAGES = ("nl", "en")
#: What resolves the entities of KDE's handbooks.
DTD_PACKAGES = ("kdoctools5", "docbook-xml", "sgml-data")


@dataclass(frozen=True, slots=True)
class Product:
    """A program and its help.

    ``files`` are patterns below ``folder``, in which ``{language}`` stands for ``nl`` or for ``english``;
    files and sections whose names match ``left_out`` have nothing that a customer asks about. Nobody
    reads, or tunes anything on, a product that is ``unopened`` until the last figures are made.
    """

    name: str
    packages: tuple[str, ...]
    licence: str
    form: Literal["docbook", "mallard", "html"]
    folder: str
    files: tuple[str, ...]
    english: str = "en"
    left_out: str = r"(?!)"
    bold_terms: bool = False
    unopened: bool = False

    def roots(self, unpacked: Path, language: str) -> dict[str, Element]:
        """Return the trees of the help in one language, by the name of the file (DocBook: of its folder)."""
        paths = sorted(self._paths(unpacked, language))
        return {self._name(path): self._read(path, unpacked) for path in paths}

    def _paths(self, unpacked: Path, language: str) -> Iterator[Path]:
        code = self.english if language == "en" else language
        for pattern in self.files:
            yield from (unpacked / self.folder.format(language=code)).glob(pattern)

    def _name(self, path: Path) -> str:
        return path.parent.name if self.form == "docbook" else path.stem

    def _read(self, path: Path, unpacked: Path) -> Element:
        return read_html(path) if self.form == "html" else read_xml(path, unpacked)


_KDE = "usr/share/doc/HTML/{language}"
_GFDL = "GFDL-1.2 or later"


def _handbook(
    name: str,
    package: str,
    *books: str,
    licence: str = _GFDL,
    left_out: str = r"(?!)",
    unopened: bool = False,
) -> Product:
    files = tuple(f"{book}/index.docbook" for book in books or (name,))
    return Product(name, (package,), licence, "docbook", _KDE, files, left_out=left_out, unopened=unopened)


PRODUCTS = (
    Product(
        "gimp",
        ("gimp-help-nl", "gimp-help-en", "gimp-help-common"),
        _GFDL,
        "html",
        "usr/share/gimp/2.0/help/{language}",
        ("*.html",),
        left_out=r"^(?:ap[a-c]s\d|gfdl|bibliography$|index$|.*early days)",
        bold_terms=True,
    ),
    Product(
        "debian-installation",
        ("installation-guide-amd64",),
        "GPL-2",
        "html",
        "usr/share/doc/installation-guide-amd64/{language}",
        ("*.html",),
        left_out=r"^(?:ap[ef](?:s\d+)?|index)$",
    ),
    Product(
        "aptitude",
        ("aptitude-doc-nl", "aptitude-doc-en"),
        "GPL-2 or later",
        "html",
        "usr/share/doc/aptitude/html/{language}",
        ("*.html",),
        left_out=r"^(?:rn\d|index$|ch04|pr\d)",
    ),
    _handbook("kmail", "kmail", "kmail2"),
    _handbook(
        "kate",
        "kate5-data",
        "kate",
        "katepart",
        left_out="development|extending|scripting|highlighting system",
    ),
    _handbook("kalarm", "kalarm", unopened=True),
    _handbook("korganizer", "korganizer"),
    _handbook("konversation", "konversation-data"),
    _handbook("kexi", "kexi-data", unopened=True),
    _handbook("okular", "okular"),
    Product(
        "gthumb",
        ("gthumb-data",),
        "CC-BY-SA-3.0",
        "mallard",
        "usr/share/help/{language}/gthumb",
        ("*.page",),
        english="C",
    ),
    _handbook("skrooge", "skrooge-common"),
    _handbook(
        "krusader",
        "krusader",
        licence="GFDL-1.1 or later",
        # The internal editor is Kate's, and so is what the handbook says of it.
        left_out="help krusader|note from the editors|package description|installation faq|krviewer",
        unopened=True,
    ),
    _handbook("tellico", "tellico-doc", left_out="hacking tellico|d-bus commands", unopened=True),
)
