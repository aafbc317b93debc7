"""A persistent cache of parses: packed, keyed by text and fingerprint, and looked up before parsing.

The parse of 1,700 characters takes 2.7 kB, and loading it a hundredth of the time of parsing.
"""

from __future__ import annotations

import json
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING

import numpy as np

from scoring.cache.cache_file import TOUCH_INTERVAL_SECONDS, CacheFile
from scoring.lexicon import Lexicon
from scoring.text.parsing.parse import Parse, read_only, stop_flags
from scoring.text.parsing.parser import LazyParse, Parser
from scoring.values.scored_answer import SCORER_VERSION

if TYPE_CHECKING:
    from spacy.language import Language

_HASH_BYTES = 16


def pipeline_fingerprint(nlp: Language) -> bytes:
    """Return the hash of a loaded pipeline's files, spaCy's version, and the code around it.

    The files' content counts, not the pipeline's name and version, which retraining may not change. The
    lexicon does not count: stop flags are computed at unpacking. Takes some 3 ms per MB of the pipeline, once
    a process. Raises OSError where the files are gone.
    """
    parts = (nlp.meta["lang"], SCORER_VERSION, version("spacy"), f"{sys.version_info[:2]}")
    # The path is set for every pipeline that is loaded by name or path, as all are.
    return _hash(*(part.encode() for part in parts), _code_hash(), _folder_hash(Path(nlp.path or "")))


@cache
def _code_hash() -> bytes:
    # Covers chunking and token columns, so that no version number must be raised by hand.
    sources = [entry for entry in files("scoring.text.parsing").iterdir() if entry.name.endswith(".py")]
    return _hash(*(entry.read_bytes() for entry in sorted(sources, key=lambda entry: entry.name)))


@cache
def _folder_hash(folder: Path) -> bytes:
    digest = blake2b(digest_size=_HASH_BYTES)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        digest.update(_hash(path.relative_to(folder).as_posix().encode(), content))
    return digest.digest()


def _hash(*parts: bytes) -> bytes:
    digest = blake2b(digest_size=_HASH_BYTES)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


_COLUMNS = 7
_NUMBER = "<i4"
# The length of the word list comes first.
_LENGTH_BYTES = 4
# The longest parse is a tenth of this; the limit guards against decompression bombs.
_MAX_BYTES = 16_000_000


class PackedParseError(ValueError):
    """The bytes are not a packed parse."""


def pack_parse(parse: Parse) -> bytes:
    """Return a parse as bytes, without its stop flags."""
    words: dict[str, int] = {}
    word_columns = [
        [words.setdefault(word, len(words)) for word in column]
        for column in (parse.pos, parse.dep, parse.lemma, parse.text)
    ]
    # Differences are small numbers, which compress to half the size.
    head = parse.head - np.arange(len(parse))
    lengths = parse.end - parse.start
    numbers = np.array([*word_columns, head, np.diff(parse.start, prepend=0), lengths], _NUMBER)
    word_list = json.dumps(list(words)).encode()
    return zlib.compress(len(word_list).to_bytes(_LENGTH_BYTES, "little") + word_list + numbers.tobytes())


def unpack_parse(packed: bytes, lexicon: Lexicon) -> Parse:
    """Return a packed parse with stop flags by ``lexicon``; raises PackedParseError."""
    try:
        return _unpack(packed, lexicon)
    except (ValueError, IndexError, RecursionError, zlib.error) as error:
        raise PackedParseError(type(error).__name__) from error


def _unpack(packed: bytes, lexicon: Lexicon) -> Parse:
    decompressor = zlib.decompressobj()
    content = decompressor.decompress(packed, _MAX_BYTES)
    words_end = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], "little")
    words = json.loads(content[_LENGTH_BYTES:words_end])
    if (
        not decompressor.eof
        or not isinstance(words, list)
        or not all(isinstance(word, str) for word in words)
    ):
        raise PackedParseError("no words")
    numbers = np.frombuffer(content, _NUMBER, offset=words_end).reshape(_COLUMNS, -1)
    numbers = numbers.astype(np.int32, copy=False)
    if numbers[:4].min(initial=0) < 0:
        raise PackedParseError("a negative word index")
    words = [intern(word) for word in words]
    pos, dep, lemma, text = (tuple([words[number] for number in row]) for row in numbers[:4].tolist())
    count = numbers.shape[1]
    head = numbers[4] + np.arange(count, dtype=np.int32)
    if count and not 0 <= head.min() <= head.max() < count:
        raise PackedParseError("a head outside the parse")
    start = np.cumsum(numbers[5], dtype=np.int32)
    return Parse(
        text=text,
        lemma=lemma,
        pos=pos,
        dep=dep,
        head=read_only(head),
        start=read_only(start),
        end=read_only(start + numbers[6]),
        is_stop=stop_flags(lemma, lexicon),
    )


_KEY_BYTES = 20


class ParseCache:
    """The parses of documents in a cache file, keyed by text and by everything that its parse depends on.

    Args:
        file: the cache file.
        parser: has the pipelines; another pipeline invalidates all parses of its language.
        clock: seconds since 1970.
    """

    def __init__(self, file: CacheFile, parser: Parser, clock: Callable[[], float] = time.time) -> None:
        self._file = file
        self._parser = parser
        self._clock = clock
        self._fingerprints: dict[str, bytes | None] = {}

    def load_fingerprints(self, languages: Iterable[str]) -> None:
        """Compute the fingerprints of languages in advance, which takes a moment.

        Raises PipelineError where a language has no pipeline.
        """
        for language in languages:
            self._fingerprint(language)

    def restore(self, lazy: LazyParse) -> bool:
        """Restore a text's parse from the file, and return whether it was there.

        Otherwise the parse is stored: now if it exists, else as soon as it is made. Raises PipelineError
        where the language has no pipeline.
        """
        if self._fingerprint(lazy.lexicon.language) is None:
            return False
        lazy.on_parsed = self.put
        if lazy.last_touched is not None:
            now = self._clock()
            if now - lazy.last_touched > TOUCH_INTERVAL_SECONDS:
                lazy.last_touched = now
                if not self._file.touch([self._key(lazy)]):
                    self.put([lazy])  # the file was rebuilt, or was too small
        elif lazy.parse is not None:
            self.put([lazy])
        else:
            for content in self._file.find([self._key(lazy)]).values():
                try:
                    lazy.parse = unpack_parse(content, lazy.lexicon)
                    lazy.last_touched = self._clock()
                except PackedParseError:
                    self._file.record_failure("NOT_A_PARSE")
        return lazy.last_touched is not None and lazy.parse is not None

    def put(self, parses: Sequence[LazyParse]) -> None:
        """Write finished parses into the file."""
        packed = {self._key(lazy): pack_parse(lazy.parse) for lazy in parses if lazy.parse is not None}
        if self._file.put(packed):
            now = self._clock()
            for lazy in parses:
                lazy.last_touched = now

    def _key(self, lazy: LazyParse) -> bytes:
        fingerprint = self._fingerprint(lazy.lexicon.language)
        assert fingerprint is not None
        # A text may contain lone surrogates.
        text = lazy.text.encode("utf-8", "surrogatepass")
        return blake2b(text, key=fingerprint, digest_size=_KEY_BYTES).digest()

    def _fingerprint(self, language: str) -> bytes | None:
        if language not in self._fingerprints:
            try:
                self._fingerprints[language] = pipeline_fingerprint(self._parser.load(language))
            except OSError:  # the pipeline is loaded, but its files are gone: its parses are not cached
                self._fingerprints[language] = None
                self._file.record_failure("PIPELINE_UNREADABLE")
        return self._fingerprints[language]
