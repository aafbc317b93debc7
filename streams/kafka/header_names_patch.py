r"""A patch of aiokafka: its consumers read records whose header names are not UTF-8.

Kafka accepts any bytes as a header's name, and aiokafka's parser raises on names that are not UTF-8: one such
record would stop every consumer that reads it, for good. With the patch, a batch that the fast parser cannot
read is read again by the slow one, which escapes the bytes (``\xff``).
"""

from collections.abc import Iterator
from typing import Any

from aiokafka.consumer import fetcher
from aiokafka.errors import CorruptRecordException
from aiokafka.record import default_records, memory_records


def install() -> None:
    """Patch aiokafka: from then on every consumer of this process reads with :class:`TolerantRecords`."""
    fetcher.MemoryRecords = TolerantRecords


class TolerantRecords(memory_records._MemoryRecordsPy):  # type: ignore[misc] # noqa: SLF001 - see above
    """The batches of one fetched partition."""

    def next_batch(self) -> Any:
        """Return the next batch, or None."""
        raw = self._next_slice
        batch = super().next_batch()
        return batch if raw is None or batch.magic < 2 else _Batch(batch, raw)  # noqa: PLR2004 - no headers


class _Batch:
    """A batch read by the fast parser and, from where that fails, by the escaping one."""

    def __init__(self, batch: Any, raw: memoryview) -> None:
        self._batch = batch
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    def __next__(self) -> Any:
        return next(self._batch)

    def __iter__(self) -> Iterator[Any]:
        last = -1
        try:
            for record in self._batch:
                last = record.offset
                yield record
        except (UnicodeDecodeError, CorruptRecordException):
            yield from (record for record in _EscapingBatch(self._raw) if record.offset > last)


class _EscapingBatch(default_records._DefaultRecordBatchPy):  # type: ignore[misc] # noqa: SLF001
    """A batch that decodes header names with escapes."""

    def __iter__(self) -> Any:
        super().__iter__()  # decompresses
        self._buffer: bytearray = _EscapingBuffer(self._buffer)
        return self


class _EscapingBuffer(bytearray):
    """Bytes whose slices decode without errors."""

    def __getitem__(self, index: Any) -> Any:
        item = super().__getitem__(index)
        return _EscapingBytes(item) if isinstance(index, slice) else item


class _EscapingBytes(bytes):
    def decode(self, encoding: str = "utf-8", errors: str = "backslashreplace") -> str:
        return super().decode(encoding, errors)
