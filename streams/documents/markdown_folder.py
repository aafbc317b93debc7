"""A folder of Markdown files as help documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt

from schemas import KnowledgeDocument
from scoring.values.readable import is_text

SUFFIX = ".md"


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file that holds no document, and why, in words for the person who wrote it."""

    path: Path
    reason: str


def read_markdown_folder(folder: Path, language: str) -> Iterator[KnowledgeDocument | BadFile]:
    """Read every Markdown file below a folder, in the order of their paths, one at a time.

    The id is the path below ``folder`` with ``/`` between its parts and without the suffix
    (``hr/add-employee``), the title the first heading or, without one, the file's name, and the
    time of change that of the file. Files and folders whose names begin with a dot are left out.

    Args:
        folder: an existing folder.
        language: an ISO 639-1 code for all of the files.
    """
    for path in sorted(folder.rglob(f"*{SUFFIX}")):
        place = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in place.parts):
            yield _read(path, place.with_suffix("").as_posix(), language)


def _read(path: Path, document_id: str, language: str) -> KnowledgeDocument | BadFile:
    if not is_text(document_id):
        return BadFile(path, "its name is not UTF-8")
    try:
        text = path.read_bytes().decode("utf-8-sig")
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except UnicodeDecodeError as error:
        return BadFile(path, f"not UTF-8: byte {error.start} cannot be read")
    except OSError as error:
        return BadFile(path, f"cannot be read: {error.strerror}")
    if not text.strip():
        return BadFile(path, "has no text")
    return KnowledgeDocument(document_id, language, _first_heading(text) or path.stem, text, changed)


def _first_heading(text: str) -> str | None:
    tokens = MarkdownIt("zero").enable(["heading", "lheading", "fence", "code"]).parse(text)
    for before, token in pairwise(tokens):
        if before.type == "heading_open" and token.content:
            return token.content
    return None
