"""What the tests of figures share: documents in a few words, and checking a clause against them."""

from functools import lru_cache

from scoring.figures.figure_checking import DataSource, check_clause, derivation_hints
from scoring.figures.grids import grids, listings
from scoring.lexicon import load_shipped
from scoring.text.prepared_text import PreparedText

LEXICONS = load_shipped()


@lru_cache(maxsize=256)
def source(text, language, document_id="d-1"):
    """The data of a document, as the scorer prepares them."""
    prepared = PreparedText.of(text, LEXICONS[language])
    return DataSource(
        document_id, grids(prepared), listings=listings(prepared), hints=derivation_hints(prepared)
    )


def checked(clause, documents, language, offset=0, before=""):
    """Check a clause against one text or several, all in its language."""
    texts = (documents,) if isinstance(documents, str) else documents
    sources = [source(text, language, f"d-{n}") for n, text in enumerate(texts, 1)]
    return check_clause(clause, offset, LEXICONS[language], sources, before)


def outcome(clause, documents, language, before=""):
    """What comes of a clause in a word: the outcome, or why it is not checkable, or None."""
    found = checked(clause, documents, language, before=before)
    return found and (found.obstacle or found.outcome).value
