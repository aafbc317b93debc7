"""Which dead letters a command is about: those of some stages, those at some places, or all."""

from __future__ import annotations

import re
from collections.abc import Sequence

from streams.cli.dead_letters.letters import Letter
from streams.cli.exits import WrongUsage
from streams.delivery import dead_letters as header
from streams.failures import Stage

_PLACE = re.compile(r"(\d{1,9}):(\d{1,18})")

#: Where a letter is in the topic: partition and offset.
Place = tuple[int, int]


class Choice:
    """Tells which letters are meant, and which of the places that were named had none of them.

    Args:
        stages: where they failed; none: wherever.
        places: ``PARTITION:OFFSET`` of each; none: all of them.

    Raises:
        WrongUsage: what is named is no place.
    """

    def __init__(self, stages: Sequence[Stage], places: Sequence[str] = ()) -> None:
        self._stages = frozenset(stages)
        self._places = frozenset(map(_place, places))
        self._missed = set(self._places)

    def __call__(self, letter: Letter) -> bool:
        """Say whether this letter is meant."""
        at = (letter.partition, letter.offset)
        if self._places and at not in self._places:
            return False
        meant = not self._stages or letter.reason(header.STAGE) in self._stages
        if meant:
            self._missed.discard(at)
        return meant

    @property
    def missed(self) -> list[Place]:
        """The named places at which no letter was that is meant, in order."""
        return sorted(self._missed)


def _place(named: str) -> Place:
    if not (found := _PLACE.fullmatch(named)):
        raise WrongUsage(f"--at {named}: a dead letter's place is PARTITION:OFFSET, such as 0:12")
    return int(found[1]), int(found[2])
