"""The step before assessing: an exchange that is not in English is put into English, if so configured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from scoring.values.types import Exchange

#: How a translation ended that was none: the exchange is in English, or cannot be judged anyway.
NOT_NEEDED = "not_needed"


@dataclass(frozen=True, slots=True)
class Translated:
    """An exchange as it is to be assessed, translated where need be, and what that degrades."""

    exchange: Exchange
    degraded: tuple[str, ...] = ()


class Translation(Protocol):
    """What is done to an exchange before it is judged."""

    async def translate(self, exchange: Exchange, seconds: float) -> Translated:
        """Translate an exchange if need be, in at most that many seconds.

        Never raises for want of a translation: the exchange is then as it was, and degraded
        ``translation_unavailable``.
        """
        ...
