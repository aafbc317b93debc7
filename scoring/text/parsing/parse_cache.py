"""Parses that outlive the process: packed, fingerprinted, and looked up before a text is parsed.

A parse of 1,700 characters takes 2.7 kB, and loading it a hundredth of the time that parsing takes.
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
from scoring.text.parsing.parse import IntArray, Parse, read_only, stop_flags
from scoring.text.parsing.parser import LazyParse, Parser
from scoring.values.version import SCORER_VERSION

if TYPE_CHECKING:
    from spacy.language import Language

_BYTES = 16


def pipeline_fingerprint(nlp: Language) -> bytes:
    """Return the hash of a loaded pipeline's files, the library that runs it, and the code around it.

    The content counts, not the name and version: a pipeline that was trained again may keep both. The
    lexicon does not: what a parse has from it is looked up anew. Takes some 3 ms for each MB of the
    pipeline, once a process. Raises OSError where its files cannot be read any more.
    """
    parts = (nlp.meta["lang"], SCORER_VERSION, version("spacy"), f"{sys.version_info[:2]}")
    # The folder is known of all that is loaded by name or path, which is how all are loaded.
    folder = Path(nlp.path or "")
    return _hash(*(part.encode() for part in parts), _code_hash(), _folder_hash(folder))


@cache
def _code_hash() -> bytes:
    # How texts are cut and what is kept of tokens: nobody has to remember to raise a number.
    sources = [entry for entry in files("scoring.text.parsing").iterdir() if entry.name.endswith(".py")]
    return _hash(*(entry.read_bytes() for entry in sorted(sources, key=lambda entry: entry.name)))


@cache
def _folder_hash(folder: Path) -> bytes:
    digest = blake2b(digest_size=_BYTES)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        digest.update(_hash(path.relative_to(folder).as_posix().encode(), content))
    return digest.digest()


def _hash(*parts: bytes) -> bytes:
    digest = blake2b(digest_size=_BYTES)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


_COLUMNS = 7
_NUMBER = "<i4"
# The length of the words comes first.
_LENGTH_BYTES = 4
# The longest parse is a tenth of this: a few bytes must not unfold to all the memory there is.
_MOST_BYTES = 16_000_000


class PackedParseError(ValueError):
    """The bytes are not those of a parse."""


def pack_parse(parse: Parse) -> bytes:
    """Return a parse as bytes, without what the lexicon says of its words."""
    words: dict[str, int] = {}
    named = [
        [words.setdefault(word, len(words)) for word in column]
        for column in (parse.pos, parse.dep, parse.lemma, parse.text)
    ]
    # Differences are small numbers, which compress to half.
    head = parse.head - np.arange(len(parse))
    numbers = np.array([*named, head, np.diff(parse.start, prepend=0), parse.end - parse.start], _NUMBER)
    listed = json.dumps(list(words)).encode()
    return zlib.compress(len(listed).to_bytes(_LENGTH_BYTES, "little") + listed + numbers.tobytes())


def unpack_parse(packed: bytes, lexicon: Lexicon) -> Parse:
    """Return the parse that was packed, its stop words those of ``lexicon``; raises PackedParseError."""
    try:
        words, numbers = _decompressed(packed)
        return _parse(words, numbers, lexicon)
    except (ValueError, IndexError, RecursionError, zlib.error) as error:
        raise PackedParseError(type(error).__name__) from error


def _decompressed(packed: bytes) -> tuple[list[str], IntArray]:
    unfolding = zlib.decompressobj()
    content = unfolding.decompress(packed, _MOST_BYTES)
    after = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], "little")
    words = json.loads(content[_LENGTH_BYTES:after])
    if not unfolding.eof or not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise PackedParseError("no words")
    numbers = np.frombuffer(content, _NUMBER, offset=after).reshape(_COLUMNS, -1)
    return [intern(word) for word in words], numbers.astype(np.int32, copy=False)


def _parse(words: list[str], numbers: IntArray, lexicon: Lexicon) -> Parse:
    count = numbers.shape[1]
    if numbers[:4].min(initial=0) < 0:
        raise PackedParseError("no word has such a number")
    pos, dep, lemma, text = (tuple([words[number] for number in row]) for row in numbers[:4].tolist())
    head = numbers[4] + np.arange(count, dtype=np.int32)
    if count and not 0 <= head.min() <= head.max() < count:
        raise PackedParseError("a head is no token")
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
    """The parses of documents in a file, by the text and by whatever its parse depends on.

    Args:
        file: where they are.
        parser: has the pipelines; where one is exchanged, every text of its language is another one.
        clock: seconds since 1970.
    """

    def __init__(self, file: CacheFile, parser: Parser, clock: Callable[[], float] = time.time) -> None:
        self._file = file
        self._parser = parser
        self._clock = clock
        self._fingerprints: dict[str, bytes | None] = {}

    def load_fingerprints(self, languages: Iterable[str]) -> None:
        """Find out what parses these languages, which takes a moment, before the first text comes.

        Raises PipelineError where a language has no pipeline.
        """
        for language in languages:
            self._fingerprint(language)

    def restore(self, lazy: LazyParse) -> bool:
        """Give a text its parse from the file, and say whether it was there.

        From now on the parse is kept: at once where it is made already, else when it is. Raises
        PipelineError where the language has no pipeline.
        """
        if self._fingerprint(lazy.lexicon.language) is None:
            return False
        lazy.on_parsed = self.put
        if lazy.last_touched is not None:
            self._touch(lazy)
        elif lazy.parse is not None:
            self.put([lazy])
        else:
            self._load(lazy)
        return lazy.last_touched is not None and lazy.parse is not None

    def put(self, parses: Sequence[LazyParse]) -> None:
        """Write parses that are made into the file."""
        if self._file.put(
            {self._key(lazy): pack_parse(lazy.parse) for lazy in parses if lazy.parse is not None}
        ):
            now = self._clock()
            for lazy in parses:
                lazy.last_touched = now

    def _load(self, lazy: LazyParse) -> None:
        for content in self._file.find([self._key(lazy)]).values():
            try:
                lazy.parse = unpack_parse(content, lazy.lexicon)
            except PackedParseError:
                self._file.record_failure("NOT_A_PARSE")
            else:
                lazy.last_touched = self._clock()

    def _touch(self, lazy: LazyParse) -> None:
        now = self._clock()
        assert lazy.last_touched is not None
        if now - lazy.last_touched > TOUCH_INTERVAL_SECONDS:
            lazy.last_touched = now
            if not self._file.touch([self._key(lazy)]):
                self.put([lazy])  # the file was begun anew, or was too small

    def _key(self, lazy: LazyParse) -> bytes:
        depends_on = self._fingerprint(lazy.lexicon.language)
        assert depends_on is not None
        # A text may hold what UTF-8 cannot.
        text = lazy.text.encode("utf-8", "surrogatepass")
        return blake2b(text, key=depends_on, digest_size=_KEY_BYTES).digest()

    def _fingerprint(self, language: str) -> bytes | None:
        if language not in self._fingerprints:
            try:
                self._fingerprints[language] = pipeline_fingerprint(self._parser.load(language))
            except OSError:  # the pipeline is loaded, and its files are gone: its parses are not kept
                self._fingerprints[language] = None
                self._file.record_failure("PIPELINE_UNREADABLE")
        return self._fingerprints[language]
