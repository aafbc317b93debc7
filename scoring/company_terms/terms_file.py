"""Company terms as typed values and as a JSON file, which is read again when it changes."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from scoring.cache.shared_files import write_atomically

FORMAT = 1
#: In fewer documents of a language no terms are looked for: what recurs in them may be chance.
MIN_DOCUMENTS = 20


@dataclass(frozen=True)
class LanguageTerms:
    """The terms of one language.

    ``documents`` is the number of documents they were found in; ``counts`` how often each term (a
    casefolded word) stands in them.
    """

    documents: int
    counts: Mapping[str, int]

    @cached_property
    def words(self) -> frozenset[str]:
        """The terms without their counts."""
        return frozenset(self.counts)


@dataclass(frozen=True)
class CompanyTerms:
    """The company's terms by language (ISO 639-1 code).

    A language in which no terms are known is not there: what cannot be measured is not 0.

    >>> terms = CompanyTerms({"nl": LanguageTerms(documents=36, counts={"loonstrook": 12})})
    >>> sorted(terms.for_language("nl"))
    ['loonstrook']
    >>> terms.for_language("de") is None
    True
    """

    languages: Mapping[str, LanguageTerms] = field(default_factory=dict)

    def for_language(self, code: str) -> frozenset[str] | None:
        """Return the terms of a language, or None where none are known."""
        known = self.languages.get(code)
        return known.words or None if known else None

    @cached_property
    def version(self) -> str:
        """A hash of the content: 16 hexadecimal digits, the same for the same terms and counts."""
        canonical = json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return the languages as plain values in a fixed order, ready for JSON."""
        return {
            code: {"documents": terms.documents, "terms": dict(sorted(terms.counts.items()))}
            for code, terms in sorted(self.languages.items())
        }


_LANGUAGE = re.compile("[a-z]{2}")


class CompanyTermsError(ValueError):
    """A file of company terms cannot be used; the message names file, line or field, and reason."""


def save_terms(terms: CompanyTerms, path: Path) -> None:
    """Write the terms; whoever reads the file meanwhile sees the old or the new one, whole.

    The same terms give the same bytes. Raises OSError where the file cannot be written.
    """
    document = {"format": FORMAT, "version": terms.version, "languages": terms.to_dict()}
    text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    write_atomically(path, text)


def load_terms(path: Path) -> CompanyTerms:
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
    except _InvalidFieldError as wrong:
        raise CompanyTermsError(f"{path}: {wrong}") from None


class _InvalidFieldError(Exception):
    """A field that is not as it should be; the message begins with the field's name."""


def _read(document: Any) -> CompanyTerms:
    _table(document, "the file", {"format", "version", "languages"})
    if document["format"] != FORMAT:
        raise _InvalidFieldError(f"format: is {_excerpt(document['format'])}, and only {FORMAT} can be read")
    languages = document["languages"]
    if not isinstance(languages, dict):
        raise _InvalidFieldError("languages: is not a table")
    return CompanyTerms({code: _language(code, table) for code, table in languages.items()})


def _language(code: str, table: Any) -> LanguageTerms:
    if not _LANGUAGE.fullmatch(code):
        raise _InvalidFieldError(f"languages: {_excerpt(code)} is not an ISO 639-1 code of two small letters")
    _table(table, f"languages.{code}", {"documents", "terms"})
    if not isinstance(terms := table["terms"], dict):
        raise _InvalidFieldError(f"languages.{code}.terms: is not a table")
    documents = _positive(table["documents"], f"languages.{code}.documents")
    return LanguageTerms(documents, {word: _count(code, word, terms) for word in terms})


def _count(code: str, word: str, terms: Mapping[str, Any]) -> int:
    field = f"languages.{code}.terms.{_excerpt(word)}"
    if not word.strip() or word != word.casefold():
        raise _InvalidFieldError(f"{field}: is not a word in small letters")
    return _positive(terms[word], field)


def _table(value: Any, field: str, keys: set[str]) -> None:
    if not isinstance(value, dict):
        raise _InvalidFieldError(f"{field}: is not a table")
    for key in sorted(keys - value.keys()):
        raise _InvalidFieldError(f"{field}: {key} is missing")
    for key in sorted(value.keys() - keys):
        raise _InvalidFieldError(f"{field}: {_excerpt(key)} is not a key of a file of company terms")


def _positive(value: Any, field: str) -> int:
    if type(value) is not int or value < 1:
        raise _InvalidFieldError(f"{field}: {_excerpt(value)} is not a count of at least 1")
    return value


def _excerpt(value: Any) -> str:
    return repr(value)[:60]


_CHECK_INTERVAL_SECONDS = 1.0

FileIdentity = tuple[int, int, int]


class WatchedTermsFile:
    """The terms of a file that somebody else replaces now and then.

    The file is looked at when terms are asked for, at most every ``seconds``. One that is not there
    yet gives no terms; one that is gone, or cannot be used, leaves the last good terms in place. Not
    safe for use by several threads.

    Args:
        path: the file.
        seconds: how long what was read is not looked at again.
        clock: seconds that only go forward.

    Attributes:
        error: why the file as it is now cannot be used, or None.
    """

    def __init__(
        self,
        path: Path,
        check_interval_seconds: float = _CHECK_INTERVAL_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.error: CompanyTermsError | None = None
        self._path = path
        self._seconds = check_interval_seconds
        self._clock = clock
        self._looked_at: float | None = None
        self._identity: FileIdentity | None = None
        self._terms = CompanyTerms()

    def for_language(self, code: str) -> frozenset[str] | None:
        """Return the terms of a language, or None where none are known."""
        return self.terms.for_language(code)

    @property
    def terms(self) -> CompanyTerms:
        """The newest terms that could be read; none at all before that."""
        now = self._clock()
        if self._looked_at is None or now - self._looked_at >= self._seconds:
            self._looked_at = now
            self._reload_if_changed()
        return self._terms

    def _reload_if_changed(self) -> None:
        try:
            status = self._path.stat()
        except OSError:
            self._identity = self.error = None
            return
        identity = status.st_mtime_ns, status.st_ino, status.st_size
        if identity == self._identity:
            return
        self._identity, self.error = identity, None
        try:
            self._terms = load_terms(self._path)
        except CompanyTermsError as error:
            self.error = error
