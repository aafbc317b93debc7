"""Dead letters, and which of them a command selects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from aiokafka import ConsumerRecord

from streams.cli.command_output import UsageError, printable
from streams.cli.record_sender import OutgoingRecord
from streams.delivery import dead_letters as header
from streams.kafka.kafka_records import Headers
from streams.kafka.topics import Topics
from streams.observability.failures import Stage

# A next failure adds to the attempts, keeps the first time, and compares its reason; all else is of the last.
_KEPT = frozenset(
    {header.ATTEMPTS, header.FIRST_FAILED_AT, header.STAGE, header.ERROR_CLASS, header.REPEATED}
)


@dataclass(frozen=True, slots=True)
class ArchivedLetter:
    """One dead letter: where it is, the bytes as they came, and the reason from its headers."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers

    @classmethod
    def of(cls, record: ConsumerRecord) -> ArchivedLetter:
        """Take the record as a letter; whatever its headers hold, this does not fail."""
        return cls(record.partition, record.offset, record.key, record.value, tuple(record.headers))

    @property
    def location(self) -> str:
        """Where it is in the topic: ``partition:offset``."""
        return f"{self.partition}:{self.offset}"

    def reason(self, name: str) -> str:
        """Give one of the ``dlq.*`` headers as text, empty where it is missing."""
        value = dict(self.headers).get(name)
        return (value or b"").decode("utf-8", "replace")

    @property
    def record_digest(self) -> bytes:
        """Tell letters about the same record by equal values; one that does not name its place has its own.

        Key and value count too: the topic may have been made anew, and the place be another record's.
        """
        if not (topic := self.reason(header.TOPIC)):
            return self.location.encode()
        place = (topic, self.reason(header.PARTITION), self.reason(header.OFFSET))
        content = (self.key, self.value, self.reason(header.VALUE_SHA256))
        return sha256(repr((place, content)).encode()).digest()

    @property
    def location_only(self) -> ArchivedLetter:
        """Its place alone: all values together may be larger than the memory."""
        return ArchivedLetter(self.partition, self.offset, None, None, ())

    @property
    def failed_twice(self) -> bool:
        """Whether it was sent again, and failed for the same reason as before."""
        return self.reason(header.REPEATED) not in {"", "0"}

    def is_from(self, topic: str) -> bool:
        """Whether the record came from this topic."""
        return self.reason(header.TOPIC) == topic

    @property
    def has_value(self) -> bool:
        """Whether the original bytes are here, and not only their size and hash."""
        return not self.reason(header.VALUE_BYTES)

    def to_json(self) -> dict[str, Any]:
        """Give everything but the value, for a program to read."""
        return {
            "partition": self.partition,
            "offset": self.offset,
            "key": None if self.key is None else self.key.decode("utf-8", "replace"),
            "bytes": None if self.value is None else len(self.value),
            "stage": self.reason(header.STAGE),
            "class": self.reason(header.ERROR_CLASS),
            "message": self.reason(header.ERROR_MESSAGE),
            "topic": self.reason(header.TOPIC),
            "original": f"{self.reason(header.PARTITION)}:{self.reason(header.OFFSET)}",
            "attempts": self.reason(header.ATTEMPTS),
            "first_failed_at": self.reason(header.FIRST_FAILED_AT),
            "failed_twice": self.failed_twice,
        }

    @property
    def summary(self) -> str:
        """Give place, stage, class and key in one line, for people."""
        key = "no key" if self.key is None else f"key {self.key.decode('utf-8', 'replace')}"
        why = " ".join(filter(None, (self.reason(header.STAGE), self.reason(header.ERROR_CLASS))))
        return printable(f"{self.location}  {why or 'no reason'}  {key}")

    def to_record(self, topics: Topics) -> OutgoingRecord:
        """Give the record to send: the original key, bytes and headers, to the topic it came from.

        That is ``answers`` unless the letter names another input topic.
        """
        named = self.reason(header.TOPIC)
        topic = named if named in {topics.documents, topics.ratings} else topics.answers
        headers = tuple(
            (name, value)
            for name, value in self.headers
            if not name.startswith(header.HEADER_PREFIX) or name in _KEPT
        )
        return OutgoingRecord(topic, self.key, self.value, headers)


_PLACE = re.compile(r"(\d{1,9}):(\d{1,18})")

#: Where a letter is in the topic: partition and offset.
LetterLocation = tuple[int, int]


class LetterFilter:
    """Tells which letters are meant, and which of the places that were named had none of them.

    Args:
        stages: where they failed; none: wherever.
        places: ``PARTITION:OFFSET`` of each; none: all of them.

    Raises:
        UsageError: what is named is no place.
    """

    def __init__(self, stages: Sequence[Stage], locations: Sequence[str] = ()) -> None:
        self._stages = frozenset(stages)
        self._places = frozenset(map(_place, locations))
        self._missed = set(self._places)

    def __call__(self, letter: ArchivedLetter) -> bool:
        """Say whether this letter is meant."""
        at = (letter.partition, letter.offset)
        if self._places and at not in self._places:
            return False
        meant = not self._stages or letter.reason(header.STAGE) in self._stages
        if meant:
            self._missed.discard(at)
        return meant

    @property
    def unmatched(self) -> list[LetterLocation]:
        """The named places at which no letter was that is meant, in order."""
        return sorted(self._missed)


def _place(named: str) -> LetterLocation:
    if not (found := _PLACE.fullmatch(named)):
        raise UsageError(f"--at {named}: a dead letter's place is PARTITION:OFFSET, such as 0:12")
    return int(found[1]), int(found[2])
