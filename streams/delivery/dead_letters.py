"""The headers that tell why a record is a dead letter."""

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
#: Only where a replayed record failed again for the reason for which it had failed before.
REPEATED = "dlq.repeated"
#: Only in place of a value that does not fit into the topic of dead letters.
VALUE_BYTES = "dlq.value.bytes"
VALUE_SHA256 = "dlq.value.sha256"

#: Headers are not covered by compression limits and count against the record's size.
_MAX_MESSAGE_CHARACTERS = 1000
_MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """What is written to ``answers.dead-letters``: the original key and bytes, and the reason."""

    key: bytes | None
    value: bytes | None
    headers: Headers


def make_dead_letter(received: ReceivedRecord, error: BadAnswer, now: datetime) -> DeadLetter:
    """Make the dead letter of a record that failed.

    A record that was replayed from the dead letters keeps the time of its first failure, and
    its attempts are added up, and how often in a row the reason (stage and class) was the same. All other
    original headers are kept, repeated keys too.
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
    """Return the letter with its value's size and SHA-256 instead of the value.

    For a value that does not fit into its topic: brokers limit what is compressed, so one that
    came compressed can be larger than any topic takes. The original still stands at ``dlq.topic``,
    ``dlq.partition`` and ``dlq.offset`` for as long as that topic keeps it.
    """
    value = letter.value or b""
    told = ((VALUE_BYTES, str(len(value)).encode()), (VALUE_SHA256, sha256(value).hexdigest().encode()))
    return DeadLetter(letter.key, None, (*letter.headers, *told))


def _encoded(value: str) -> bytes:
    return value.encode(errors="backslashreplace")


def _count(value: bytes | None) -> int:
    # The header is as hostile as the rest of the record: a longer one is no count of ours.
    return int(value) if value and value.isdigit() and len(value) <= _MAX_DIGITS else 0
