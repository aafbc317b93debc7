"""Changes of what is held, as records that every worker can read."""

from __future__ import annotations

from datetime import UTC, datetime

from schemas import DecodeError, EncodeError, Hold
from schemas.records import rfc3339
from scoring.policy import Scope
from streams.cli.exits import WrongUsage
from streams.cli.sending import Outgoing
from streams.holds.board import Entry
from streams.holds.records import CODEC, Status, key_of
from streams.kafka.event_headers import event_headers
from streams.kafka.topics import Topics
from streams.settings import Settings

_SOURCE = "hold"


class Change:
    """What an operator says, of whatever answers.

    Args:
        settings: name the topic.
        by: who says it.
        reason: why.
        at: when, aware.
    """

    def __init__(self, settings: Settings, by: str, reason: str, at: datetime | None = None) -> None:
        self._topic = Topics(settings.kafka.topic_prefix).controls
        self._by = by
        self._reason = reason
        self._at = at or datetime.now(UTC)

    def held(self, scope: Scope) -> Outgoing:
        """Make the record that holds these answers; raises WrongUsage for what no worker could read."""
        return self._record(scope, Status.HELD)

    def resumed(self, entry: Entry) -> Outgoing:
        """Make the record that undoes this one, in its partition; one that cannot be read is deleted."""
        if entry.scope is None:
            headers = event_headers(self._id(entry.key), "Hold.deleted", _SOURCE)
            return Outgoing(self._topic, entry.key, None, headers, entry.partition)
        return self._record(entry.scope, Status.RESUMED, entry.partition)

    def _record(self, scope: Scope, status: Status, partition: int | None = None) -> Outgoing:
        key = key_of(scope)
        hold = Hold(status, scope.message_type, scope.language, self._at, self._by, self._reason)
        headers = event_headers(self._id(key), "Hold", _SOURCE)
        return Outgoing(self._topic, key, _written(hold), headers, partition)

    def _id(self, key: bytes) -> str:
        return f"{key.decode(errors='backslashreplace')}@{rfc3339(self._at)}"


def _written(hold: Hold) -> bytes:
    """Write a record; one that workers could not read would hold everything, and is refused here."""
    try:
        value = CODEC.encode(hold)
        CODEC.decode(value, Hold)
    except (EncodeError, DecodeError) as error:
        raise WrongUsage(f"this cannot be said: {error}") from error
    return value
