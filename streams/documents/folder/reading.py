"""Reads a folder: each page once, with its id and language, or why it is not read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Final

from schemas import KnowledgeDocument
from scoring.text.language_detection import language_code
from scoring.values.exchange import is_encodable
from streams.documents.folder.pages import HelpPage, read_markdown

_ISO_639_1: Final = """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz
    ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik
    io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml
    mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd
    se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi
    vo wa wo xh yi yo za zh zu
"""
_CODES: Final = frozenset(_ISO_639_1.split())
#: Names that people write in place of a code: those of languages of support chats, in English and their own.
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
# Codes that are names of departments and short words as well, so that a folder may be called by them.
_AMBIGUOUS_CODES: Final = frozenset(
    {"am", "as", "hr", "id", "io", "is", "it", "my", "no", "or", "os", "so", "to"}
)


def is_language_tag(tag: str) -> bool:
    """Say whether a tag such as ``nl`` or ``en-GB`` names a language that there is."""
    return language_code(tag) in _CODES


def language_code_for_name(name: str) -> str | None:
    """Give the code of a language that is named, such as ``nl`` for Dutch; None where that is unknown."""
    return _CODE_BY_NAME.get(name.strip().lower())


def language_of_folder(folder: Path, page: PurePath, language: str) -> str | None:
    """Give the folder above a page whose name is another language than the one that the page is taken for.

    A name that is a word, too, such as ``hr``, counts only beside a folder of the page's own language.

    Args:
        folder: where the page lies below.
        page: its path below that.
        language: the page's.

    Returns:
        the path of that folder below ``folder``, or None.
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
    """A file that holds no document, and why, in words for the person who wrote it."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class PageFolder:
    """A folder of pages, and what is known of all of them.

    Attributes:
        folder: an existing folder.
        languages: one code: that of pages which do not say theirs in front matter; several: the names of the
            top folders, each of which has the pages of that language; none: pages must say it.
        id_prefix: put before every id.
        option: what names the languages, for whoever is told that there is none.
    """

    folder: Path
    languages: Sequence[str] = ()
    id_prefix: str = ""
    option: str = "--language"


def read_folder(pages: PageFolder) -> Iterator[KnowledgeDocument | BadFile]:
    """Read every Markdown and HTML file below a folder, in the order of their paths, one at a time.

    The id is the path below the folder with ``/`` between its parts and without the suffix
    (``hr/add-employee``), the title the one that a page states, its first heading or, without one, the
    file's name, and the time of change that of the file. Files and folders whose names begin with a dot are
    left out.
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
        return BadFile(path, "is nested too deeply")
    except OSError as error:
        return BadFile(path, f"cannot be read: {error.strerror}")
    title = page.title or path.stem
    return KnowledgeDocument(document_id, language, title, page.text, changed, page.url, auto_send)


class _UnusablePage(Exception):
    """A page that can be read and is no document; the message says why."""


def _read_page(path: Path) -> HelpPage:
    content = path.read_bytes()
    if _is_html(path):
        # Not at the top: it takes longer to load than a folder of Markdown to be read.
        from streams.documents.folder.html_page import read_html  # noqa: PLC0415

        page = read_html(content)
    else:
        page = read_markdown(content.decode("utf-8-sig"))
    if not page.text.strip():
        raise _UnusablePage("has no text")
    return page


def _language(page: HelpPage, relative_path: PurePath, pages: PageFolder, *, is_html: bool) -> str:
    """Choose who knows best: front matter is written for this page, the lang of HTML often by a template."""
    given = relative_path.parts[0] if relative_path.parts[0] in pages.languages else None
    if len(pages.languages) == 1:
        given = pages.languages[0]
    language = (given or page.language) if is_html else (page.language or given)
    if language is None:
        raise _UnusablePage(
            f"has no language: name it by {pages.option}, in the front matter or as lang of the html"
        )
    if not is_language_tag(language):
        raise _UnusablePage(f"its language {language!r} is no code such as nl or en")
    return language


def _auto_send(page: HelpPage) -> bool:
    mark = (page.auto_send or "false").lower()
    if mark not in _MARKS:
        raise _UnusablePage(f"its auto_send {page.auto_send!r} is neither true nor false")
    return _MARKS[mark]


def _is_page(path: Path) -> bool:
    return (path.suffix.lower() == _MARKDOWN or _is_html(path)) and path.is_file()


def _is_html(path: Path) -> bool:
    return path.suffix.lower() in _HTML
