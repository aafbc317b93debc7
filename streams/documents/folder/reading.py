"""The reading of a folder: each page once, with its id and its language, or why it is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Final

from schemas import KnowledgeDocument
from scoring.values.readable import is_text
from streams.documents.folder.languages import is_language
from streams.documents.folder.markdown_page import read_markdown
from streams.documents.folder.page import Page

_MARKDOWN: Final = ".md"
_HTML: Final = frozenset({".html", ".htm"})


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file that holds no document, and why, in words for the person who wrote it."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Pages:
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


def read_folder(pages: Pages) -> Iterator[KnowledgeDocument | BadFile]:
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
        if not is_text(document_id):
            yield BadFile(path, "its name is not UTF-8")
        elif other := seen.get(document_id):
            yield BadFile(path, f"has the same id as {other}: {document_id}")
        else:
            seen[document_id] = place
            yield _read(path, place, document_id, pages)


def _read(path: Path, place: PurePath, document_id: str, pages: Pages) -> KnowledgeDocument | BadFile:
    try:
        page = _page(path)
        language = _language(page, place, pages, is_html=_is_html(path))
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except _Unusable as reason:
        return BadFile(path, str(reason))
    except UnicodeDecodeError as error:
        return BadFile(path, f"not UTF-8: byte {error.start} cannot be read")
    except RecursionError:
        return BadFile(path, "is nested too deeply")
    except OSError as error:
        return BadFile(path, f"cannot be read: {error.strerror}")
    return KnowledgeDocument(document_id, language, page.title or path.stem, page.text, changed, page.url)


class _Unusable(Exception):
    """A page that can be read and is no document; the message says why."""


def _page(path: Path) -> Page:
    content = path.read_bytes()
    if _is_html(path):
        # Not at the top: it takes longer to load than a folder of Markdown to be read.
        from streams.documents.folder.html_page import read_html  # noqa: PLC0415

        page = read_html(content)
    else:
        page = read_markdown(content.decode("utf-8-sig"))
    if not page.text.strip():
        raise _Unusable("has no text")
    return page


def _language(page: Page, place: PurePath, pages: Pages, *, is_html: bool) -> str:
    """Choose who knows best: front matter is written for this page, the lang of HTML often by a template."""
    given = place.parts[0] if place.parts[0] in pages.languages else None
    if len(pages.languages) == 1:
        given = pages.languages[0]
    language = (given or page.language) if is_html else (page.language or given)
    if language is None:
        raise _Unusable(
            f"has no language: name it by {pages.option}, in the front matter or as lang of the html"
        )
    if not is_language(language):
        raise _Unusable(f"its language {language!r} is no code such as nl or en")
    return language


def _is_page(path: Path) -> bool:
    return (path.suffix.lower() == _MARKDOWN or _is_html(path)) and path.is_file()


def _is_html(path: Path) -> bool:
    return path.suffix.lower() in _HTML
