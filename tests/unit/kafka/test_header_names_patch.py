"""Record batches are read whatever bytes their header names have, and otherwise as aiokafka reads them."""

from aiokafka.record.default_records import DefaultRecordBatch, _DefaultRecordBatchBuilderPy
from hypothesis import given
from hypothesis import strategies as st

from streams.kafka.header_names_patch import TolerantRecords
from tests.support.records import RawName

GZIP = 1


def batch(names: list[bytes], compression: int = 0) -> bytes:
    """Give one batch with a record for each header name; its offset is its value."""
    builder = _DefaultRecordBatchBuilderPy(
        magic=2,
        compression_type=compression,
        is_transactional=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=10_000_000,
    )
    for offset, name in enumerate(names):
        headers = [("before", b"1"), (RawName(name), b"2"), ("after", None)]
        assert builder.append(offset, 1_000, b"key", str(offset).encode(), headers) is not None
    return bytes(builder.build())


def read(raw: bytes) -> list[tuple[int, bytes, bytes, list[tuple[str, bytes | None]]]]:
    records = TolerantRecords(raw)
    found = []
    while records.has_next():
        found += [(r.offset, r.key, r.value, list(r.headers)) for r in records.next_batch()]
    return found


def test_a_name_that_is_not_utf_8_is_escaped_and_the_records_around_it_are_read() -> None:
    for compression in (0, GZIP):
        found = read(batch([b"one", b"\xff\xfe", b"three", b"caf\xc3\xa9", b"\xc3"], compression))
        assert [offset for offset, *_ in found] == [0, 1, 2, 3, 4]
        names = [headers[1][0] for *_, headers in found]
        assert names == ["one", "\\xff\\xfe", "three", "café", "\\xc3"]
        assert found[1][1:3] == (b"key", b"1")
        assert found[1][3] == [("before", b"1"), ("\\xff\\xfe", b"2"), ("after", None)]


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=20))
def test_every_record_is_read_once_and_in_order_whatever_the_names(names: list[bytes]) -> None:
    found = read(batch(names) + batch(names))
    assert [offset for offset, *_ in found] == [*range(len(names)), *range(len(names))]
    assert [value for _, _, value, _ in found] == [str(n).encode() for n in range(len(names))] * 2
    assert [headers[1][0] for *_, headers in found] == [
        name.decode(errors="backslashreplace") for name in names
    ] * 2


def test_a_batch_tells_what_the_fetcher_asks_of_it() -> None:
    raw = batch([b"\xff", b"x"])
    ours, theirs = TolerantRecords(raw).next_batch(), DefaultRecordBatch(raw)
    for name in ("base_offset", "next_offset", "is_control_batch", "is_transactional", "producer_id"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.validate_crc()
