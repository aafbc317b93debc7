"""Which writer schemas of a registry we read data with; a registry holds those of many systems."""

from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.errors import AvroException
from avro.schema import ArraySchema, FixedSchema, MapSchema, RecordSchema, Schema, UnionSchema, parse
from fastavro.schema import SchemaParseException

from schemas.catalogue import RECORD_TYPES, current_schema, read_schema
from schemas.catalogue import RecordSchema as OurSchema
from schemas.validation import DecodeError

MAX_TYPES = 10_000
"""Types in a schema, each counted where it is used: no real schema comes near, and a small one
whose records repeat each other would otherwise make a few bytes of data cost minutes."""


def accept_writer_schema(text: str) -> OurSchema:
    """Parse a writer schema (JSON) with which data can be read as one of our records.

    Raises DecodeError ``incompatible_schema`` if it is no schema, has the name of none of our
    records, cannot be resolved to our schema of that name, or lets a few bytes of data cost
    unbounded time: by recursion, or by array items that take no bytes.
    """
    try:
        schema = parse(text)
        _SizeVisitor().minimal_size(schema)
        record_type = {kind.__name__: kind for kind in RECORD_TYPES}.get(getattr(schema, "name", ""))
        if record_type is None:
            raise _rejection("it is none of our records")
        if incompatibilities(current_schema(record_type).text, text):
            raise _rejection(f"it cannot be read as {current_schema(record_type).name}")
        return read_schema(text, record_type)
    except (AvroException, SchemaParseException) as error:
        raise _rejection(f"it is no valid schema ({type(error).__name__})") from None


def incompatibilities(reader: str, writer: str) -> tuple[str, ...]:
    """Return why data written with the schema ``writer`` cannot be read as ``reader``.

    Takes two schemas as JSON; returns one phrase for each reason (Avro 1.11, "Schema Resolution"), none if
    everything can be read.
    """
    checker = ReaderWriterCompatibilityChecker()  # type: ignore[no-untyped-call]
    result = checker.get_compatibility(parse(reader), parse(writer))
    if result.compatibility is SchemaCompatibilityType.compatible:
        return ()
    kinds = (kind.value for kind in result.incompatibilities)
    return tuple(sorted({*kinds, *result.messages}))


def _rejection(reason: str) -> DecodeError:
    return DecodeError("incompatible_schema", f"the writer schema is not accepted: {reason}")


class _SizeVisitor:
    """Visits every use of a type in a schema once."""

    def __init__(self) -> None:
        self._inside: list[str] = []
        self._visited = 0

    def minimal_size(self, schema: Schema) -> int:
        """Return the least bytes a value of the schema takes; raise DecodeError if unbounded."""
        self._visited += 1
        if self._visited > MAX_TYPES:
            raise _rejection(f"it has more than {MAX_TYPES} types")
        match schema:
            case RecordSchema():
                return self._record_size(schema)
            case ArraySchema():
                return self._array_size(schema)
            case MapSchema():
                return 1 + 0 * self.minimal_size(schema.values)
            case UnionSchema():
                return 1 + min((self.minimal_size(branch) for branch in schema.schemas), default=0)
            case FixedSchema():
                return int(schema.size)
            case _:
                return 0 if schema.type == "null" else 1

    def _record_size(self, schema: RecordSchema) -> int:
        if schema.fullname in self._inside:
            raise _rejection("it contains itself")
        self._inside.append(schema.fullname)
        size = sum(self.minimal_size(field.type) for field in schema.fields)
        self._inside.pop()
        return size

    def _array_size(self, schema: ArraySchema) -> int:
        if self.minimal_size(schema.items) == 0:
            raise _rejection("it has an array whose items take no bytes")
        return 1
