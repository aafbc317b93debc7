"""The file that holds company terms: JSON, one term a line, sorted, nothing in it that time changes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scoring.company_terms.model import FORMAT, CompanyTerms, LanguageTerms
from scoring.storage.whole_file import replace_file

_LANGUAGE = re.compile("[a-z]{2}")


class CompanyTermsError(ValueError):
    """A file of company terms cannot be used; the message names file, line or field, and reason."""


def save(terms: CompanyTerms, path: Path) -> None:
    """Write the terms; whoever reads the file meanwhile sees the old or the new one, whole.

    The same terms give the same bytes. Raises OSError where the file cannot be written.
    """
    document = {"format": FORMAT, "version": terms.version, "languages": terms.content()}
    text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    replace_file(path, text)


def load(path: Path) -> CompanyTerms:
    """Read a file of company terms; raises CompanyTermsError.

    The version is that of the content: terms may be added or taken out by hand.
    """
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise CompanyTermsError(f"{path}: cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise CompanyTermsError(f"{path}: line {error.lineno}: is not JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise CompanyTermsError(f"{path}: is not UTF-8: byte {error.start} cannot be read") from error
    except RecursionError:
        raise CompanyTermsError(f"{path}: is nested too deeply") from None
    try:
        return _read(document)
    except _Wrong as wrong:
        raise CompanyTermsError(f"{path}: {wrong}") from None


class _Wrong(Exception):
    """A field that is not as it should be; the message begins with the field's name."""


def _read(document: Any) -> CompanyTerms:
    _table(document, "the file", {"format", "version", "languages"})
    if document["format"] != FORMAT:
        raise _Wrong(f"format: is {_shown(document['format'])}, and only {FORMAT} can be read")
    languages = document["languages"]
    if not isinstance(languages, dict):
        raise _Wrong("languages: is not a table")
    return CompanyTerms({code: _language(code, table) for code, table in languages.items()})


def _language(code: str, table: Any) -> LanguageTerms:
    if not _LANGUAGE.fullmatch(code):
        raise _Wrong(f"languages: {_shown(code)} is not an ISO 639-1 code of two small letters")
    _table(table, f"languages.{code}", {"documents", "terms"})
    if not isinstance(terms := table["terms"], dict):
        raise _Wrong(f"languages.{code}.terms: is not a table")
    documents = _positive(table["documents"], f"languages.{code}.documents")
    return LanguageTerms(documents, {word: _count(code, word, terms) for word in terms})


def _count(code: str, word: str, terms: Mapping[str, Any]) -> int:
    field = f"languages.{code}.terms.{_shown(word)}"
    if not word.strip() or word != word.casefold():
        raise _Wrong(f"{field}: is not a word in small letters")
    return _positive(terms[word], field)


def _table(value: Any, field: str, keys: set[str]) -> None:
    if not isinstance(value, dict):
        raise _Wrong(f"{field}: is not a table")
    for key in sorted(keys - value.keys()):
        raise _Wrong(f"{field}: {key} is missing")
    for key in sorted(value.keys() - keys):
        raise _Wrong(f"{field}: {_shown(key)} is not a key of a file of company terms")


def _positive(value: Any, field: str) -> int:
    if type(value) is not int or value < 1:
        raise _Wrong(f"{field}: {_shown(value)} is not a count of at least 1")
    return value


def _shown(value: Any) -> str:
    return repr(value)[:60]
