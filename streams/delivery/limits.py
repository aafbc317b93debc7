"""How long things may take in all, from the limits of their parts."""

from __future__ import annotations

from streams.settings import Settings

#: The producer gives up by itself after the delivery timeout; this is for when it does not.
_GRACE_SECONDS = 5.0
_MARGIN_SECONDS = 30.0


def longest_send(delivery_timeout: float) -> float:
    """Return the seconds after which one send has failed."""
    return delivery_timeout + _GRACE_SECONDS


def longest_settling(settings: Settings) -> float:
    """Return the seconds within which everything in work has its verdict or dead letter.

    An answer is judged in its time from receipt; its verdict may then be refused at the last
    moment, and be followed by a dead letter. What waits behind it in its conversation is by then
    out of time too, and only published.
    """
    sends = 2 * longest_send(settings.kafka.delivery_timeout_seconds)
    return settings.flow.answer_timeout_seconds + sends + _MARGIN_SECONDS
