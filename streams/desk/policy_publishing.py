"""Publishes what leads change of the policies: approvals and withdrawals, as `truthgate policy` does."""

import asyncio
from typing import Final

import structlog

from schemas import PolicyChange
from streams.delivery.publisher import Publisher
from streams.observability.failures import BadAnswer, InfrastructureFailure
from streams.reviews.policy_records import PARTITION, Change
from streams.reviews.policy_state import PolicyState
from streams.reviews.policy_writing import change_refusal, policy_record

log = structlog.get_logger(__name__)

#: A lead waits so long at most for Kafka.
_WRITE_SECONDS: Final = 10.0
#: Then the desk waits for three seconds at most until it has read it back, so that the page shows it.
_POLL_SECONDS: Final = 0.05
_POLLS: Final = 60

_UNREACHABLE: Final = "unreachable"
_CHANGED: Final = "changed"
_NO_REASON: Final = "no_reason"
_UNSURE: Final = "unsure"
_REFUSED: Final = "refused"
#: What became of a change, by codes of the page's address.
POLICY_NOTICES: Final = {
    Change.APPROVED: "It is approved: every worker decides by it within seconds.",
    Change.WITHDRAWN: "It is withdrawn: no worker sends by it any more within seconds.",
    _UNREACHABLE: "Nothing was changed: Kafka does not answer now. Try again.",
    _CHANGED: "Nothing was changed: the policies changed since this page was loaded. Look at them again.",
    _NO_REASON: "Nothing was changed: say why, in at most 1000 characters.",
    _UNSURE: "Kafka did not confirm the change in time, and may still take it. Look at the policies again.",
    _REFUSED: "Nothing was changed: Kafka refused it, or there is no such version or group.",
}


class PolicyPublishing:
    """Writes changes of leads to the topic `policies`, one after the other.

    Args:
        state: kept up to date with the topic by somebody else.
        topic: the full name.

    Attributes:
        publisher: sends them; None until there is a connection.
    """

    def __init__(self, state: PolicyState, topic: str) -> None:
        self.publisher: Publisher | None = None
        self._state = state
        self._topic = topic
        # The second of two leads is told what the first one changed.
        self._lock = asyncio.Lock()

    async def change(self, changed: PolicyChange, seen: str) -> str:
        """Publish a change, wait until it is read back, and return a code of ``POLICY_NOTICES``.

        ``seen`` is ``next_offset`` of the state that the lead looked at.
        """
        async with self._lock:
            outcome = self._objection(changed, seen) or await self._publish(changed)
        log.info(
            "desk_policy_change",
            version=changed.version,
            change=changed.change,
            group=changed.group,
            lead=changed.by,  # without the reason: a person's own words may quote a customer
            outcome=outcome,
        )
        return outcome

    def _objection(self, changed: PolicyChange, seen: str) -> str | None:
        if self.publisher is None or not self._state.freshness.is_current:
            return _UNREACHABLE
        if seen != str(self._state.next_offset):
            return _CHANGED
        is_refused = change_refusal(self._state, changed.version, Change(changed.change), changed.group)
        return _REFUSED if is_refused else None

    async def _publish(self, changed: PolicyChange) -> str:
        assert self.publisher  # else there is an objection
        try:
            record = policy_record(changed, "desk")
        except ValueError:
            return _NO_REASON
        try:
            async with asyncio.timeout(_WRITE_SECONDS):
                written = await self.publisher.publish(self._topic, *record, PARTITION)
        except BadAnswer:
            return _REFUSED
        except (InfrastructureFailure, TimeoutError):
            return _UNSURE
        for _ in range(_POLLS):
            if self._state.next_offset > written.offset:
                break
            await asyncio.sleep(_POLL_SECONDS)
        return changed.change
