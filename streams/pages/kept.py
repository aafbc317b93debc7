"""The bodies of answers that many ask for: each is made at most every half second."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

FRESH_SECONDS: Final = 0.5
_MOST_KEPT: Final = 64


class Kept:
    """Serves everybody with one body, so that any number of visitors costs no more than a few.

    Args:
        clock: in seconds; one that goes back makes no body last longer.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._bodies: dict[tuple[str, ...], tuple[float, bytes]] = {}

    def body(self, asked: tuple[str, ...], make: Callable[[], bytes]) -> bytes:
        """Give the answer to what is asked, as it was half a second ago at most."""
        made_at, body = self._bodies.get(asked, (-math.inf, b""))
        if not 0 <= self._clock() - made_at < FRESH_SECONDS:
            body = make()
            if len(self._bodies) >= _MOST_KEPT:
                self._bodies.clear()
            # Counted from its end: what takes long to make must not be old at once.
            self._bodies[asked] = self._clock(), body
        return body
