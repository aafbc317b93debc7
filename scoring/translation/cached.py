"""Cached translations: in memory for recent texts, in a file for sentences."""

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
    """Translated texts, and texts that no translation could be had of, the least recently used dropped.

    Args:
        characters: how much original text is kept.
        retry_after: seconds after which a text is tried again that the translator made nonsense of.
        clock: seconds, monotonic.
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
        """Return the translation of a text from ``source``; None when nothing is known of it.

        Raises:
            TranslationFailed: it was tried not long ago, and would fail in the same way.
        """
        if (found := self._outcomes.get((source, text))) is None:
            return None
        outcome, since = found
        if isinstance(outcome, TranslatedText):
            self._outcomes.move_to_end((source, text))
            return outcome
        if self._clock() - since < self._retry_after:
            raise TranslationFailed(outcome)
        return None

    def put(self, source: str, text: str, outcome: TranslatedText | TranslationFault) -> None:
        """Remember what came of translating a text; a fault of the moment is not remembered."""
        if outcome in TRANSIENT_FAULTS:
            return
        if self._outcomes.pop((source, text), None) is None:
            self._characters += len(text)
        self._outcomes[source, text] = (outcome, self._clock())
        while self._characters > self._max_characters:
            (_, dropped), _ = self._outcomes.popitem(last=False)
            self._characters -= len(dropped)


#: Raise it when what is cut into sentences or taken for nonsense changes.
VERSION = 1
# Another process is opening or writing it, which is over in a moment.
_BUSY = frozenset({"OPENING_LOCKED", "SQLITE_BUSY"})


class TranslationCache:
    """Translations of sentences in a file that several processes share, by hashes of the sentences.

    Where the file fails, nothing is found or kept for a while, and translating goes on.

    Args:
        path: the file; its folder is made when it is not there.
        mib: how many MiB it may grow to, about.
        depends_on: what a translation depends on beside its sentence and language: who translates.
        on_error: called with the name of what failed, such as ``SQLITE_FULL``.

    Raises:
        TranslatorMisconfigured: the file cannot be made, or keeps something else.
    """

    def __init__(self, path: Path, max_mib: int, identity: str, on_error: Callable[[str], None]) -> None:
        self._file = CacheFile(path, TRANSLATION_CACHE_ID, max_mib)
        self._identity = f"{VERSION}\0{identity}"
        self._on_error = on_error
        if failures := set(self._file.take_failures()) - _BUSY:
            reason = "it is not a file of translations" if "FOREIGN" in failures else ", ".join(failures)
            raise TranslatorMisconfigured(f"cannot use {path}: {reason}")

    def close(self) -> None:
        """Close the file; from now on nothing is found and nothing kept. May be called twice."""
        self._file.close()

    def find(self, sentences: Iterable[str], language: str) -> dict[str, str]:
        """Return those of the translations that are there, by their sentences."""
        by_key = {self._key(sentence, language): sentence for sentence in sentences}
        found = self._file.find(by_key)
        self._report_failures()
        return {by_key[key]: content.decode("utf-8", "surrogatepass") for key, content in found.items()}

    def put(self, translations: Mapping[str, str], language: str) -> None:
        """Keep the translations of these sentences."""
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
