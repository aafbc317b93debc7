"""Dead letters: the original record, with the reason in its headers."""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from streams.kafka.kafka_records import Headers, ReceivedRecord
from streams.observability.failures import BadAnswer

HEADER_PREFIX = "dlq."
ERROR_CLASS = "dlq.error.class"
ERROR_MESSAGE = "dlq.error.message"
STAGE = "dlq.stage"
TOPIC = "dlq.topic"
PARTITION = "dlq.partition"
OFFSET = "dlq.offset"
ATTEMPTS = "dlq.attempts"
FIRST_FAILED_AT = "dlq.first_failed_at"
#: Present if a replayed record failed again for the same reason as before.
REPEATED = "dlq.repeated"
#: Present instead of a value that does not fit into the dead-letter topic.
VALUE_BYTES = "dlq.value.bytes"
VALUE_SHA256 = "dlq.value.sha256"

#: Headers are not compressed and count towards the record's size.
_MAX_MESSAGE_CHARACTERS = 1000
_MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record for ``answers.dead-letters``: the original key and bytes, and the reason."""

    key: bytes | None
    value: bytes | None
    headers: Headers


def make_dead_letter(received: ReceivedRecord, error: BadAnswer, now: datetime) -> DeadLetter:
    """Return the dead letter of a failed record.

    A record replayed from the dead letters keeps the time of its first failure. Its attempts are summed
    up, and consecutive failures for the same reason (stage and class) are counted. All other original
    headers stay, repeated keys too.
    """
    earlier = dict(received.headers)
    attempts = _count(earlier.get(ATTEMPTS)) + error.attempts
    reason = {
        ERROR_CLASS: error.error_class,
        ERROR_MESSAGE: error.message[:_MAX_MESSAGE_CHARACTERS],
        STAGE: error.stage.value,
        TOPIC: received.topic,
        PARTITION: str(received.partition),
        OFFSET: str(received.offset),
        ATTEMPTS: str(attempts),
    }
    if all(earlier.get(name) == _encoded(reason[name]) for name in (STAGE, ERROR_CLASS)):
        reason[REPEATED] = str(_count(earlier.get(REPEATED)) + 1)
    original = tuple((key, value) for key, value in received.headers if not key.startswith(HEADER_PREFIX))
    first_failed_at = earlier.get(FIRST_FAILED_AT) or now.isoformat().encode()
    headers = tuple((key, _encoded(value)) for key, value in reason.items())
    return DeadLetter(received.key, received.value, (*original, *headers, (FIRST_FAILED_AT, first_failed_at)))


def without_value(letter: DeadLetter) -> DeadLetter:
    """Return the dead letter with the size and SHA-256 of its value instead of the value.

    For a value that does not fit into its topic: brokers limit compressed sizes, so a compressed value
    may be larger than any topic accepts. The original is at ``dlq.topic``, ``dlq.partition`` and
    ``dlq.offset`` for as long as that topic retains it.
    """
    value = letter.value or b""
    replacement = (
        (VALUE_BYTES, str(len(value)).encode()),
        (VALUE_SHA256, sha256(value).hexdigest().encode()),
    )
    return DeadLetter(letter.key, None, (*letter.headers, *replacement))


def _encoded(value: str) -> bytes:
    return value.encode(errors="backslashreplace")


def _count(value: bytes | None) -> int:
    # The header is as untrusted as the record: a longer one is not our count.
    return int(value) if value and value.isdigit() and len(value) <= _MAX_DIGITS else 0
