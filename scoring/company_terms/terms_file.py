"""Company terms as typed values and as a JSON file, which is reloaded when it changes."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from scoring.cache.shared_database import write_atomically

FORMAT = 1
_MAX_MESSAGE = 200
#: With fewer documents of a language no terms are extracted, since repetitions may be chance.
MIN_DOCUMENTS = 20


@dataclass(frozen=True)
class LanguageTerms:
    """The terms of one language.

    ``documents``: the number of documents that they were extracted from; ``counts``: the occurrences of each
    term (a casefolded word) in them.
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

    A language without known terms is absent: unknown is not 0.

    >>> terms = CompanyTerms({"nl": LanguageTerms(documents=36, counts={"loonstrook": 12})})
    >>> sorted(terms.for_language("nl"))
    ['loonstrook']
    >>> terms.for_language("de") is None
    True
    """

    languages: Mapping[str, LanguageTerms] = field(default_factory=dict)

    def for_language(self, code: str) -> frozenset[str] | None:
        """Return the terms of a language, or None where none are known."""
        terms = self.languages.get(code)
        return terms.words or None if terms else None

    @cached_property
    def version(self) -> str:
        """A hash of terms and counts: 16 hexadecimal digits."""
        canonical = json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return the languages as plain values in a fixed order, for JSON."""
        return {
            code: {"documents": terms.documents, "terms": dict(sorted(terms.counts.items()))}
            for code, terms in sorted(self.languages.items())
        }


class CompanyTermsError(ValueError):
    """A file of company terms cannot be used; the message names file, field and reason."""


def _check_term(word: str) -> str:
    if not word.strip() or word != word.casefold():
        raise ValueError("is not a word in small letters")
    return word


class _LanguageTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    documents: PositiveInt
    terms: dict[Annotated[str, AfterValidator(_check_term)], PositiveInt]


class _TermsDocument(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal[1]
    version: str
    languages: dict[Annotated[str, Field(pattern="^[a-z]{2}$")], _LanguageTable]


def save_terms(terms: CompanyTerms, path: Path) -> None:
    """Write the terms atomically; equal terms give equal bytes. Raises OSError."""
    document = {"format": FORMAT, "version": terms.version, "languages": terms.to_dict()}
    write_atomically(path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")


def load_terms(path: Path) -> CompanyTerms:
    """Read a file of company terms; raises CompanyTermsError.

    The version is computed from the content, since terms may be added or removed by hand.
    """
    try:
        document = _TermsDocument.model_validate_json(path.read_bytes())
    except OSError as error:
        raise CompanyTermsError(f"{path}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(map(str, first["loc"])) or "the file"
        message = f"{field}: {first['msg'].removeprefix('Value error, ')}"
        raise CompanyTermsError(f"{path}: {shorten(message, _MAX_MESSAGE)}") from None
    return CompanyTerms(
        {code: LanguageTerms(table.documents, table.terms) for code, table in document.languages.items()}
    )


_CHECK_INTERVAL_SECONDS = 1.0

FileIdentity = tuple[int, int, int]


class WatchedTermsFile:
    """The terms of a file that is replaced now and then. Not thread-safe.

    The file is checked when terms are read, at most once per interval. A missing file gives no terms; if it
    disappears or becomes invalid, the last valid terms stay in use.

    Args:
        path: the file.
        check_interval_seconds: the minimum time between checks.
        clock: monotonic seconds.

    Attributes:
        error: why the current file is invalid, or None.
    """

    def __init__(
        self,
        path: Path,
        check_interval_seconds: float = _CHECK_INTERVAL_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.error: CompanyTermsError | None = None
        self._path = path
        self._check_interval = check_interval_seconds
        self._clock = clock
        self._checked_at: float | None = None
        self._identity: FileIdentity | None = None
        self._terms = CompanyTerms()

    def for_language(self, code: str) -> frozenset[str] | None:
        """Return the terms of a language, or None where none are known."""
        return self.terms.for_language(code)

    @property
    def terms(self) -> CompanyTerms:
        """The last valid terms, if there were any."""
        now = self._clock()
        if self._checked_at is None or now - self._checked_at >= self._check_interval:
            self._checked_at = now
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
