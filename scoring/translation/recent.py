"""The outcomes of translating texts, remembered for a while."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from scoring.translation.errors import OF_THE_MOMENT, Fault, TranslationFailed
from scoring.values.types import TranslatedText


class RecentTexts:
    """Translated texts, and texts that no translation could be had of, the least recently used dropped.

    Args:
        characters: how much original text is kept.
        retry_after: seconds after which a text is tried again that the translator made nonsense of.
        clock: seconds, monotonic.
    """

    def __init__(
        self, characters: int, retry_after: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = characters
        self._retry_after = retry_after
        self._clock = clock
        self._characters = 0
        self._outcomes: OrderedDict[tuple[str, str], tuple[TranslatedText | Fault, float]] = OrderedDict()

    def get(self, source: str, text: str) -> TranslatedText | None:
        """Return the translation of a text from ``source``; None when nothing is known of it.

        Raises:
            TranslationFailed: it was tried not long ago, and would fail in the same way.
        """
        if (found := self._outcomes.get((source, text))) is None:
            return None
        outcome, since = found
        if isinstance(outcome, TranslatedText):
            self._outcomes.move_to_end((source, text))
            return outcome
        if self._clock() - since < self._retry_after:
            raise TranslationFailed(outcome)
        return None

    def put(self, source: str, text: str, outcome: TranslatedText | Fault) -> None:
        """Remember what came of translating a text; a fault of the moment is not remembered."""
        if outcome in OF_THE_MOMENT:
            return
        if self._outcomes.pop((source, text), None) is None:
            self._characters += len(text)
        self._outcomes[source, text] = (outcome, self._clock())
        while self._characters > self._most:
            (_, dropped), _ = self._outcomes.popitem(last=False)
            self._characters -= len(dropped)
