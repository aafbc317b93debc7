"""The records of the topic ``controls``: one for each scope, under a key that is made of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from aiokafka import ConsumerRecord

from schemas import Codec, DecodeError, Hold
from scoring.policy import Scope
from scoring.values.types import MessageType

#: Without a registry, whatever the settings say: who wants to stop sending must not have to wait for one.
CODEC: Final = Codec()

_ANY: Final = "*"


class Status(StrEnum):
    """What the record of a scope says; whatever else is there counts as held."""

    HELD = "held"
    RESUMED = "resumed"


class Unreadable(Exception):
    """A record of which cannot be told what it holds; ``error_type`` is a stable code."""

    def __init__(self, error_type: str) -> None:
        super().__init__(error_type)
        self.error_type = error_type


def key_of(scope: Scope) -> bytes:
    """Return the key of a scope's records, such as ``instruction/nl``; ``*`` stands for any."""
    return f"{scope.message_type or _ANY}/{scope.language or _ANY}".encode()


def scope_of(hold: Hold) -> Scope:
    """Return the answers that a record is about; raises ValueError for a type or language that is none."""
    message_type = MessageType(hold.message_type) if hold.message_type is not None else None
    return Scope(message_type, hold.language)


def read_hold(record: ConsumerRecord) -> Hold | None:
    """Read a record; None where it takes away what the key had before.

    Raises:
        Unreadable: it is none of ours, of a later release, or stands under another key than its own.
    """
    if record.value is None:
        return None
    try:
        hold = CODEC.decode(record.value, Hold)
        key = key_of(scope_of(hold))
    except DecodeError as error:
        raise Unreadable(error.code) from error
    except ValueError as error:
        raise Unreadable("unknown_scope") from error
    if key != record.key:
        raise Unreadable("key_mismatch")
    return hold
