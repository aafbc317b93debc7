"""Records of the topic ``controls``, as the command writes them and as others might."""

from dataclasses import replace
from datetime import UTC, datetime

from aiokafka import ConsumerRecord

from schemas import Hold
from scoring.policy import PauseScope
from scoring.values.exchange import MessageType
from streams.pause.pause_state import CODEC, PauseState, PauseStatus, pause_key, pause_scope
from tests.support.clock import Clock

WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def a_hold(
    message_type: str | None = None,
    language: str | None = None,
    status: str = PauseStatus.PAUSED,
    by: str = "anna",
) -> Hold:
    """Give what an operator says of these answers."""
    return Hold(status, message_type, language, WHEN, by, "wrong prices")


def resumed(hold: Hold) -> Hold:
    """Give what lets these answers go again."""
    return replace(hold, status=PauseStatus.RESUMED, by="bert")


def hold_record(hold: Hold, offset: int = 0, partition: int = 0) -> ConsumerRecord:
    """Give the record of what an operator says."""
    return raw_record(pause_key(pause_scope(hold)), CODEC.encode(hold), offset, partition)


def raw_record(key: bytes | None, value: bytes | None, offset: int = 0, partition: int = 0) -> ConsumerRecord:
    """Give a record of these bytes."""
    sizes = len(key or b""), len(value or b"")
    return ConsumerRecord("controls", partition, offset, 0, 0, key, value, None, *sizes, ())


def board_of_nothing(clock: Clock) -> PauseState:
    """Give a board of a topic that was empty when it was read, just now."""
    board = PauseState(clock)
    board.confirm(clock.now)
    return board


INSTRUCTIONS_IN_DUTCH = PauseScope(MessageType.INSTRUCTION, "nl")
