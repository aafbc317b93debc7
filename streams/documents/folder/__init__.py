"""A folder of help pages, Markdown and HTML, as help documents."""

from streams.documents.folder.reading import (
    BadFile,
    Pages,
    code_meant,
    is_language,
    language_of_folder,
    read_folder,
)

__all__ = ["BadFile", "Pages", "code_meant", "is_language", "language_of_folder", "read_folder"]
