"""Whether data of one schema can be read with another (Avro 1.11, "Schema Resolution")."""

from __future__ import annotations

from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.schema import parse


def incompatibilities(reader: str, writer: str) -> tuple[str, ...]:
    """Say why data written with the schema ``writer`` cannot be read as ``reader``.

    Takes two schemas as JSON; returns one phrase a reason, none if everything can be read.
    """
    checker = ReaderWriterCompatibilityChecker()  # type: ignore[no-untyped-call]
    result = checker.get_compatibility(parse(reader), parse(writer))
    if result.compatibility is SchemaCompatibilityType.compatible:
        return ()
    kinds = (kind.value for kind in result.incompatibilities)
    return tuple(sorted({*kinds, *result.messages}))
