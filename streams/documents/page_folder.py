"""A folder of help pages read as documents: ids, languages, and reasons for unusable files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Final

from schemas import KnowledgeDocument
from scoring.text.language_detection import language_code
from scoring.values.exchange import is_encodable
from streams.documents.markdown_page import HelpPage, read_markdown

_ISO_639_1: Final = """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz
    ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik
    io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml
    mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd
    se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi
    vo wa wo xh yi yo za zh zu
"""
_CODES: Final = frozenset(_ISO_639_1.split())
#: Names that people use instead of a code: languages of support chats, in English and in the language itself.
_CODE_BY_NAME: Final = {
    **dict.fromkeys(("dutch", "nederlands", "flemish", "nld", "dut"), "nl"),
    **dict.fromkeys(("english", "engels", "eng"), "en"),
    **dict.fromkeys(("german", "deutsch", "duits", "deu", "ger"), "de"),
    **dict.fromkeys(("french", "français", "francais", "frans", "fra", "fre"), "fr"),
    **dict.fromkeys(("spanish", "español", "espanol", "spaans", "spa"), "es"),
    **dict.fromkeys(("italian", "italiano", "italiaans", "ita"), "it"),
    **dict.fromkeys(("portuguese", "português", "portugues", "portugees", "por"), "pt"),
    **dict.fromkeys(("polish", "polski", "pools", "pol"), "pl"),
    **dict.fromkeys(("turkish", "türkçe", "turks", "tur"), "tr"),
    **dict.fromkeys(("arabic", "arabisch", "ara"), "ar"),
    **dict.fromkeys(("frisian", "frysk", "fries", "fry"), "fy"),
}
# Codes that are also words or names of departments, so a folder may have such a name.
_AMBIGUOUS_CODES: Final = frozenset(
    {"am", "as", "hr", "id", "io", "is", "it", "my", "no", "or", "os", "so", "to"}
)


def is_language_tag(tag: str) -> bool:
    """Return whether a tag such as ``nl`` or ``en-GB`` names an existing language."""
    return language_code(tag) in _CODES


def language_code_for_name(name: str) -> str | None:
    """Return the code for the name of a language, e.g. ``nl`` for Dutch; None if unknown."""
    return _CODE_BY_NAME.get(name.strip().lower())


def language_of_folder(folder: Path, page: PurePath, language: str) -> str | None:
    """Return a parent folder of a page that is named after another language than the page's.

    A name that is also a word, e.g. ``hr``, counts only next to a folder named after the page's language.

    Args:
        folder: the root.
        page: the page's path below the root.
        language: the page's.

    Returns:
        The path of that folder below the root, or None.
    """
    for above in reversed(page.parents[:-1]):
        name = above.name
        other = is_language_tag(name) and language_code(name) != language_code(language)
        if other and (name.lower() not in _AMBIGUOUS_CODES or (folder / above.parent / language).is_dir()):
            return above.as_posix()
    return None


_MARKDOWN: Final = ".md"
_HTML: Final = frozenset({".html", ".htm"})

_MARKS: Final = {"false": False, "true": True}


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file without a usable document, and the reason for its author."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class PageFolder:
    """A folder of pages, and what applies to all of them.

    Attributes:
        folder: an existing folder.
        languages: one code: the default language; several: the names of the top folders, each with the
            pages of that language; none: each page must state its language.
        id_prefix: prepended to every id.
        option: the option that sets the languages, for messages.
    """

    folder: Path
    languages: Sequence[str] = ()
    id_prefix: str = ""
    option: str = "--language"


def read_folder(pages: PageFolder) -> Iterator[KnowledgeDocument | BadFile]:
    """Read every Markdown and HTML file below a folder, sorted by path, one at a time.

    The id is the path below the folder with ``/`` and without suffix (``hr/add-employee``), the title is the
    one that the page states, its first heading or the file's name, and the time of change is the file's.
    Hidden files and folders are skipped.
    """
    seen: dict[str, PurePath] = {}
    for path in sorted(pages.folder.rglob("*")):
        place = path.relative_to(pages.folder)
        if not _is_page(path) or any(part.startswith(".") for part in place.parts):
            continue
        document_id = pages.id_prefix + place.with_suffix("").as_posix()
        if not is_encodable(document_id):
            yield BadFile(path, "its name is not UTF-8")
        elif other := seen.get(document_id):
            yield BadFile(path, f"has the same id as {other}: {document_id}")
        else:
            seen[document_id] = place
            yield _read_document(path, place, document_id, pages)


def _read_document(
    path: Path, relative_path: PurePath, document_id: str, pages: PageFolder
) -> KnowledgeDocument | BadFile:
    try:
        page = _read_page(path)
        language = _language(page, relative_path, pages, is_html=_is_html(path))
        auto_send = _auto_send(page)
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except _UnusablePage as reason:
        return BadFile(path, str(reason))
    except UnicodeDecodeError as error:
        return BadFile(path, f"not UTF-8: byte {error.start} cannot be read")
    except RecursionError:
        return BadFile(path, "its elements are nested too deeply")
    except OSError as error:
        return BadFile(path, f"cannot be read: {error.strerror}")
    title = page.title or path.stem
    return KnowledgeDocument(document_id, language, title, page.text, changed, page.url, auto_send)


class _UnusablePage(Exception):
    """A page without a usable document; the message is the reason."""


def _read_page(path: Path) -> HelpPage:
    content = path.read_bytes()
    if _is_html(path):
        # Imported here: it takes longer to load than a folder of Markdown takes to read.
        from streams.documents.html_page import read_html  # noqa: PLC0415

        page = read_html(content)
    else:
        page = read_markdown(content.decode("utf-8-sig"))
    if not page.text.strip():
        raise _UnusablePage("has no text")
    return page


def _language(page: HelpPage, relative_path: PurePath, pages: PageFolder, *, is_html: bool) -> str:
    """Return the language: front matter is specific to the page, ``lang`` often comes from a template."""
    given = relative_path.parts[0] if relative_path.parts[0] in pages.languages else None
    if len(pages.languages) == 1:
        given = pages.languages[0]
    language = (given or page.language) if is_html else (page.language or given)
    if language is None:
        raise _UnusablePage(
            f"has no language; set {pages.option}, or state it in the front matter or as lang of html"
        )
    if not is_language_tag(language):
        raise _UnusablePage(f"language {language!r} is not a code such as nl or en")
    return language


def _auto_send(page: HelpPage) -> bool:
    mark = (page.auto_send or "false").lower()
    if mark not in _MARKS:
        raise _UnusablePage(f"auto_send {page.auto_send!r} is neither true nor false")
    return _MARKS[mark]


def _is_page(path: Path) -> bool:
    return (path.suffix.lower() == _MARKDOWN or _is_html(path)) and path.is_file()


def _is_html(path: Path) -> bool:
    return path.suffix.lower() in _HTML
