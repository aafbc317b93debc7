"""A file of company terms that is read again when it changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from scoring.company_terms.file import CompanyTermsError, load
from scoring.company_terms.model import CompanyTerms

_LOOK_SECONDS = 1.0

Identity = tuple[int, int, int]


class Watched:
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
        self, path: Path, seconds: float = _LOOK_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.error: CompanyTermsError | None = None
        self._path = path
        self._seconds = seconds
        self._clock = clock
        self._looked_at: float | None = None
        self._identity: Identity | None = None
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
            self._look()
        return self._terms

    def _look(self) -> None:
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
            self._terms = load(self._path)
        except CompanyTermsError as error:
            self.error = error
