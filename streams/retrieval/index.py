"""The index as a search has it: all chunks in memory, in blocks by language, as new as the file."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from streams.retrieval.block import LARGEST, Block, Numbers, merged
from streams.retrieval.index_file import IndexFile, NoIndex, Read, State
from streams.retrieval.indexed import IndexedDocument

#: A block is merged with the one before that is not so many times as large: so there are few.
_MERGED_UNTIL = 2
#: Chunks that are read before a block is made of them: much of one, with room for what comes later.
_GATHERED = LARGEST * 3 // 4
_SCALE_BYTES = 4

Blocks = Mapping[str, Sequence[Block]]


class ChunkIndex:
    """An index that is open. Its methods block, and raise NoIndex, DamagedIndex and sqlite3.Error.

    Args:
        file: of the index; all of it is read.
        dimensions: how many numbers a vector has; NoIndex where those of the index have others.
    """

    def __init__(self, file: IndexFile, dimensions: int) -> None:
        self._file = file
        self._dimensions = dimensions
        self._refreshing = threading.Lock()
        self._blocks: dict[str, list[Block]] = {}
        self._state = State(0, 0)
        self._last = 0
        self._take_in()

    def refresh(self) -> Blocks:
        """Take in what others have changed, and return the chunks by language, as they are now."""
        with self._refreshing:
            self._take_in()
            return self._blocks

    def documents(self, numbers: Iterable[int]) -> dict[int, IndexedDocument]:
        """Return the documents of these numbers, as far as they are still there."""
        return self._file.documents(set(numbers))

    def _take_in(self) -> None:
        state = self._file.state()
        if state == self._state:
            return
        blocks = dict(self._blocks)
        for language, documents in _gathered(self._file.read(self._last)):
            block = Block.of(documents)
            if block.codes.shape[1] != self._dimensions:
                raise NoIndex("index_built_otherwise")
            blocks[language] = _joined([*blocks.get(language, ()), block])
        if state.removals != self._state.removals:
            numbers = np.array(self._file.numbers(), np.int64)
            left = {language: list(_left(some, numbers)) for language, some in blocks.items()}
            blocks = {language: some for language, some in left.items() if some}
        self._blocks, self._state = blocks, state
        self._last = max((int(block.numbers[-1]) for some in blocks.values() for block in some), default=0)


def _gathered(reads: Iterable[Sequence[Read]]) -> Iterator[tuple[str, list[Read]]]:
    """Yield documents of one language, as many as make a large block, and what is left in the end."""
    waiting: dict[str, list[Read]] = {}
    chunks: Counter[str] = Counter()
    for document in chain.from_iterable(reads):
        language = document.language
        waiting.setdefault(language, []).append(document)
        chunks[language] += len(document.chunks.scales) // _SCALE_BYTES
        if chunks[language] >= _GATHERED:
            yield language, waiting.pop(language)
            del chunks[language]
    yield from waiting.items()


def _left(blocks: Sequence[Block], numbers: Numbers) -> Iterator[Block]:
    for block in (block.only(numbers) for block in blocks):
        if alive := np.count_nonzero(block.alive):
            yield block if _MERGED_UNTIL * alive > len(block) else merged([block])


def _joined(blocks: list[Block]) -> list[Block]:
    """Merge the last blocks while they are of about the same size."""
    while (
        len(blocks) > 1
        and len(blocks[-2]) < _MERGED_UNTIL * len(blocks[-1])
        and len(blocks[-2]) + len(blocks[-1]) <= LARGEST
    ):
        blocks = [*blocks[:-2], merged(blocks[-2:])]
    return blocks
