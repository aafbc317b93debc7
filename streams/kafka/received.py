"""A record as it came from the broker."""

from __future__ import annotations

from dataclasses import dataclass

Headers = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class Received:
    """One record of an input topic: where it stands, its bytes, all of its headers, and its time.

    ``timestamp`` is in seconds since 1970, None where the broker has none.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    timestamp: float | None = None
