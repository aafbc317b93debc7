"""What the tests of figures share: documents in a few words, and checking a clause against them."""

import tomllib
from functools import lru_cache
from pathlib import Path

from scoring.figures.figure_checking import check_clause
from scoring.lexicon import load_shipped
from scoring.text.prepared_text import PreparedText

LEXICONS = load_shipped()
DATA = Path(__file__).parents[1] / "data"


def said(file, *kinds):
    """The sentences of these kinds in a file of data, each with its document and language."""
    documents = tomllib.loads((DATA / f"{file}.toml").read_text("utf-8"))["documents"]
    return [
        (sentence, document["text"], document["language"])
        for document in documents
        for kind in kinds
        for sentence in document.get(kind, ())
    ]


@lru_cache(maxsize=256)
def prepared(text, language):
    """A document, as the scorer prepares it."""
    return PreparedText.of(text, LEXICONS[language])


def checked(clause, documents, language, offset=0):
    """Check a clause against one text or several, all in its language."""
    texts = (documents,) if isinstance(documents, str) else documents
    known = {f"d-{n}": prepared(text, language) for n, text in enumerate(texts, 1)}
    return check_clause(clause, offset, LEXICONS[language], known)


def outcome(clause, documents, language):
    """What comes of a clause in a word, or None."""
    found = checked(clause, documents, language)
    return found and found.status.value


def open_in(clause, text, language):
    """The figures of a clause that may follow from a document."""
    found = checked(clause, text, language)
    return [clause[start:end] for start, end in found.open_spans] if found else []
