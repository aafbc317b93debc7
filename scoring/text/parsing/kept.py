"""Parses that outlive the process: looked for before a text is parsed, and kept when it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b

from scoring.storage.kept_file import NOTED_SECONDS, KeptFile
from scoring.text.parsing.fingerprint import fingerprint
from scoring.text.parsing.lazy import LazyParse
from scoring.text.parsing.packed import NotPacked, pack, unpack
from scoring.text.parsing.parser import Parser

_KEY_BYTES = 20


class KeptParses:
    """The parses of documents in a file, by the text and by whatever its parse depends on.

    Args:
        file: where they are.
        parser: has the pipelines; where one is exchanged, every text of its language is another one.
        clock: seconds since 1970.
    """

    def __init__(self, file: KeptFile, parser: Parser, clock: Callable[[], float] = time.time) -> None:
        self._file = file
        self._parser = parser
        self._clock = clock
        self._fingerprints: dict[str, bytes | None] = {}

    def identify(self, languages: Iterable[str]) -> None:
        """Find out what parses these languages, which takes a moment, before the first text comes.

        Raises PipelineError where a language has no pipeline.
        """
        for language in languages:
            self._fingerprint(language)

    def recall(self, lazy: LazyParse) -> bool:
        """Give a text its parse from the file, and say whether it was there.

        From now on the parse is kept: at once where it is made already, else when it is. Raises
        PipelineError where the language has no pipeline.
        """
        if self._fingerprint(lazy.lexicon.language) is None:
            return False
        lazy.keep = self.keep
        if lazy.used_at is not None:
            self._note_use(lazy)
        elif lazy.made is not None:
            self.keep([lazy])
        else:
            self._find(lazy)
        return lazy.used_at is not None and lazy.made is not None

    def keep(self, parses: Sequence[LazyParse]) -> None:
        """Write parses that are made into the file."""
        if self._file.put({self._key(lazy): pack(lazy.made) for lazy in parses if lazy.made is not None}):
            now = self._clock()
            for lazy in parses:
                lazy.used_at = now

    def _find(self, lazy: LazyParse) -> None:
        for content in self._file.find([self._key(lazy)]).values():
            try:
                lazy.made = unpack(content, lazy.lexicon)
            except NotPacked:
                self._file.failed("NOT_A_PARSE")
            else:
                lazy.used_at = self._clock()

    def _note_use(self, lazy: LazyParse) -> None:
        now = self._clock()
        assert lazy.used_at is not None
        if now - lazy.used_at > NOTED_SECONDS:
            lazy.used_at = now
            if not self._file.touch([self._key(lazy)]):
                self.keep([lazy])  # the file was begun anew, or was too small

    def _key(self, lazy: LazyParse) -> bytes:
        depends_on = self._fingerprint(lazy.lexicon.language)
        assert depends_on is not None
        # A text may hold what UTF-8 cannot.
        text = lazy.text.encode("utf-8", "surrogatepass")
        return blake2b(text, key=depends_on, digest_size=_KEY_BYTES).digest()

    def _fingerprint(self, language: str) -> bytes | None:
        if language not in self._fingerprints:
            try:
                self._fingerprints[language] = fingerprint(self._parser.load(language))
            except OSError:  # the pipeline is loaded, and its files are gone: its parses are not kept
                self._fingerprints[language] = None
                self._file.failed("PIPELINE_UNREADABLE")
        return self._fingerprints[language]
