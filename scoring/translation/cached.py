"""Caches of translations: recent texts in memory, sentences in a file."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from scoring.cache.cache_file import TRANSLATION_CACHE_ID, CacheFile
from scoring.translation.errors import (
    TRANSIENT_FAULTS,
    TranslationFailed,
    TranslationFault,
    TranslatorMisconfigured,
)
from scoring.values.exchange import TranslatedText


class RecentTranslations:
    """An LRU cache of translated texts, and of the faults of texts that cannot be translated.

    Args:
        max_characters: the bound on original text.
        retry_after: seconds after which a text with a permanent fault is tried again.
        clock: monotonic seconds.
    """

    def __init__(
        self, max_characters: int, retry_after: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_characters = max_characters
        self._retry_after = retry_after
        self._clock = clock
        self._characters = 0
        self._outcomes: OrderedDict[tuple[str, str], tuple[TranslatedText | TranslationFault, float]] = (
            OrderedDict()
        )

    def get(self, source: str, text: str) -> TranslatedText | None:
        """Return the cached translation of a text from ``source``, if any.

        Raises:
            TranslationFailed: a recent attempt failed, and would fail again.
        """
        outcome, since = self._outcomes.get((source, text), (None, 0.0))
        if isinstance(outcome, TranslatedText):
            self._outcomes.move_to_end((source, text))
            return outcome
        if outcome is not None and self._clock() - since < self._retry_after:
            raise TranslationFailed(outcome)
        return None

    def put(self, source: str, text: str, outcome: TranslatedText | TranslationFault) -> None:
        """Store the outcome of a translation, unless it is a transient fault."""
        if outcome in TRANSIENT_FAULTS:
            return
        if self._outcomes.pop((source, text), None) is None:
            self._characters += len(text)
        self._outcomes[source, text] = (outcome, self._clock())
        while self._characters > self._max_characters:
            (_, evicted), _ = self._outcomes.popitem(last=False)
            self._characters -= len(evicted)


#: Raise it when the splitting into sentences or the checks change.
VERSION = 1
# Another process is opening or writing the file, which is over in a moment.
_BUSY = frozenset({"OPENING_LOCKED", "SQLITE_BUSY"})


class TranslationCache:
    """Translations of sentences in a file that processes share, by hashes of the sentences.

    A failing file finds and stores nothing for a while; translation continues.

    Args:
        path: the file; its folder is created.
        max_mib: the approximate bound on the file.
        identity: identifies the translator, on which translations depend.
        on_error: called with error names, such as ``SQLITE_FULL``.

    Raises:
        TranslatorMisconfigured: the file cannot be created, or is foreign.
    """

    def __init__(self, path: Path, max_mib: int, identity: str, on_error: Callable[[str], None]) -> None:
        self._file = CacheFile(path, TRANSLATION_CACHE_ID, max_mib)
        self._identity = f"{VERSION}\0{identity}"
        self._on_error = on_error
        if failures := set(self._file.take_failures()) - _BUSY:
            reason = "it is not a file of translations" if "FOREIGN" in failures else ", ".join(failures)
            raise TranslatorMisconfigured(f"cannot use {path}: {reason}")

    def close(self) -> None:
        """Close the file for good; idempotent."""
        self._file.close()

    def find(self, sentences: Iterable[str], language: str) -> dict[str, str]:
        """Return the stored translations by their sentences."""
        by_key = {self._key(sentence, language): sentence for sentence in sentences}
        found = self._file.find(by_key)
        self._report_failures()
        return {by_key[key]: content.decode("utf-8", "surrogatepass") for key, content in found.items()}

    def put(self, translations: Mapping[str, str], language: str) -> None:
        """Store the translations of these sentences."""
        self._file.put({
            self._key(sentence, language): translation.encode("utf-8", "surrogatepass")
            for sentence, translation in translations.items()
        })  # fmt: skip
        self._report_failures()

    def _key(self, sentence: str, language: str) -> bytes:
        text = f"{self._identity}\0{language}\0{sentence}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    def _report_failures(self) -> None:
        for failure in self._file.take_failures():
            self._on_error(failure)
