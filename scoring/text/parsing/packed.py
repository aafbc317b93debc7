"""Parses as bytes: the words once each, and columns of small numbers, compressed.

A parse of 1,700 characters takes 2.7 kB, and loading it a hundredth of the time that parsing takes.
"""

from __future__ import annotations

import json
import zlib
from sys import intern

import numpy as np

from scoring.lexicon import Lexicon
from scoring.text.parsing.parse import Integers, Parse, frozen
from scoring.text.parsing.tokens import stop_flags

_COLUMNS = 7
_NUMBER = "<i4"
# The length of the words comes first.
_LENGTH_BYTES = 4
# The longest parse is a tenth of this: a few bytes must not unfold to all the memory there is.
_MOST_BYTES = 16_000_000


class NotPacked(ValueError):
    """The bytes are not those of a parse."""


def pack(parse: Parse) -> bytes:
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


def unpack(packed: bytes, lexicon: Lexicon) -> Parse:
    """Return the parse that was packed, its stop words those of ``lexicon``; raises NotPacked."""
    try:
        words, numbers = _unfolded(packed)
        return _parse(words, numbers, lexicon)
    except (ValueError, IndexError, RecursionError, zlib.error) as error:
        raise NotPacked(type(error).__name__) from error


def _unfolded(packed: bytes) -> tuple[list[str], Integers]:
    unfolding = zlib.decompressobj()
    content = unfolding.decompress(packed, _MOST_BYTES)
    after = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], "little")
    words = json.loads(content[_LENGTH_BYTES:after])
    if not unfolding.eof or not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise NotPacked("no words")
    numbers = np.frombuffer(content, _NUMBER, offset=after).reshape(_COLUMNS, -1)
    return [intern(word) for word in words], numbers.astype(np.int32, copy=False)


def _parse(words: list[str], numbers: Integers, lexicon: Lexicon) -> Parse:
    count = numbers.shape[1]
    if numbers[:4].min(initial=0) < 0:
        raise NotPacked("no word has such a number")
    pos, dep, lemma, text = (tuple([words[number] for number in row]) for row in numbers[:4].tolist())
    head = numbers[4] + np.arange(count, dtype=np.int32)
    if count and not 0 <= head.min() <= head.max() < count:
        raise NotPacked("a head is no token")
    start = np.cumsum(numbers[5], dtype=np.int32)
    return Parse(
        text=text,
        lemma=lemma,
        pos=pos,
        dep=dep,
        head=frozen(head),
        start=frozen(start),
        end=frozen(start + numbers[6]),
        is_stop=stop_flags(lemma, lexicon),
    )
