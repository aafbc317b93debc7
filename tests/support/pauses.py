"""Records of the topic ``controls``, as the command writes them and as others might."""

from dataclasses import replace
from datetime import UTC, datetime

from aiokafka import ConsumerRecord

from schemas import Pause
from scoring.policy import PauseScope
from scoring.values.exchange import MessageType
from streams.pause.pause_state import CODEC, PauseState, PauseStatus, pause_key, pause_scope
from tests.support.clock import Clock

WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def a_pause(
    message_type: str | None = None,
    language: str | None = None,
    status: str = PauseStatus.PAUSED,
    by: str = "anna",
) -> Pause:
    """Give a pause of these answers."""
    return Pause(status, message_type, language, WHEN, by, "wrong prices")


def resumed(pause: Pause) -> Pause:
    """Give the record that ends a pause."""
    return replace(pause, status=PauseStatus.RESUMED, by="bert")


def pause_record(pause: Pause, offset: int = 0, partition: int = 0) -> ConsumerRecord:
    """Give the Kafka record of a pause."""
    return raw_record(pause_key(pause_scope(pause)), CODEC.encode(pause), offset, partition)


def raw_record(key: bytes | None, value: bytes | None, offset: int = 0, partition: int = 0) -> ConsumerRecord:
    """Give a record of these bytes."""
    sizes = len(key or b""), len(value or b"")
    return ConsumerRecord("controls", partition, offset, 0, 0, key, value, None, *sizes, ())


def no_pauses(clock: Clock) -> PauseState:
    """Give the state of a topic that was empty when it was read, just now."""
    state = PauseState(clock)
    state.freshness.confirm(clock.now)
    return state


INSTRUCTIONS_IN_DUTCH = PauseScope(MessageType.INSTRUCTION, "nl")
