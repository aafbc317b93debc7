"""What goes into the index, and the word for its absence: apart from LanceDB, which is slow to import."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from schemas import KnowledgeDocument

LAYOUT_VERSION = 1  # raise it with every change of the columns or of what is in them


class NoIndex(Exception):
    """There is no index, or not one that was built with what is asked for."""


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document to be indexed; ``version`` is that of ``document_version``."""

    document_id: str
    version: str
    language: str
    title: str
    text: str

    @classmethod
    def of(cls, document: KnowledgeDocument, version: str) -> IndexedDocument:
        """Return what is indexed of a document."""
        return cls(document.document_id, version, document.language, document.title, document.text)


#: The table of an index, and the files beside it that say that it is whole.
TABLE = "chunks"
WHOLE = "complete"
WHOLE_STATE, WHOLE_STATE_UNFINISHED = "complete.json", "complete.new"


def is_folder(location: str) -> bool:
    """Whether an index is in a folder of this machine."""
    return "://" not in location


def table_folder(location: str) -> Path:
    """Return where the files of an index are that is in a folder."""
    return Path(location) / f"{TABLE}.lance"
