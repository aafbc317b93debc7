"""A folder of help pages, Markdown and HTML, as help documents."""

from streams.documents.folder.reading import (
    BadFile,
    PageFolder,
    is_language_tag,
    language_code_for_name,
    language_of_folder,
    read_folder,
)

__all__ = [
    "BadFile",
    "PageFolder",
    "is_language_tag",
    "language_code_for_name",
    "language_of_folder",
    "read_folder",
]
