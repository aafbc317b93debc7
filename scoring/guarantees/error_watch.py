"""A watch on audited mistakes that may be looked at after each one, for as long as one likes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

#: The rates that the watch bets on, as multiples of alpha on the scale of odds; one mistake in three more
#: than promised is found as well as three times as many.
_ODDS: Final = np.array([1.3, 1.7, 2.2, 3.0, 4.5, 8.0])


@dataclass(frozen=True, slots=True)
class ErrorWatch:
    """The evidence so far that more than ``alpha`` of what is sent are mistakes; :meth:`after` adds to it.

    An e-process: as long as each audited answer is a mistake with probability ``alpha`` at most, given those
    before, the evidence has a mean of at most 1 whenever one stops, and ever reaches 1 / ``delta`` with
    probability ``delta`` at most (Ville). So it is no false alarm to look after each audit, unlike with a
    test of a fixed size. It is a mixture of likelihood ratios of a rate above alpha against alpha, that is of
    bets 1 + b (mistake - alpha) (Waudby-Smith and Ramdas 2023), over several rates and over the audit from
    which on the rate is the higher one: 1 / (1 + ln(1 + n)) of the capital is not in play before n audits.
    All of it in play from the beginning would first have to win back what it lost in a long good time. (Shin,
    Ramdas and Rinaldo, "E-detectors" (2022), restart alike, but bound how soon a false alarm comes, not
    whether.)

    An answer that was drawn and never rated is no bet, and keeps its place. One that may still be rated is to
    be given as no mistake: that can only lower the evidence, so that no alarm depends on who rates first.

    Audited answers must have been drawn with one probability, or with one that changes for reasons of time
    alone, and come in an order that no rating has a part in. Reviewers who see mistakes where none are
    add to what is found.

    >>> ErrorWatch(0.05, 0.05).after([False] * 40 + [True] * 8).is_exceeded
    True
    """

    alpha: float
    delta: float
    audited: int = 0
    mistakes: int = 0
    #: The capital of each rate that is in play, and the largest evidence so far.
    capitals: tuple[float, ...] = (0.0,) * len(_ODDS)
    peak: float = 1.0

    @property
    def is_exceeded(self) -> bool:
        """Whether alpha is exceeded: sending is to be withdrawn."""
        return self.peak >= 1 / self.delta

    def after(self, audited: Iterable[bool | None]) -> Self:
        """Return the watch after further audited answers, in their order: whether each is a mistake.

        None is one that nobody rated.
        """
        watch, capitals = self, np.array(self.capitals)
        for mistake in audited:
            # At a rate of alpha every bet has the factor 1.
            outcome = np.asarray(self.alpha if mistake is None else mistake, float)
            capitals, evidence = step(capitals, watch.audited, outcome, self.alpha)
            watch = replace(
                watch,
                audited=watch.audited + 1,
                mistakes=watch.mistakes + bool(mistake),
                peak=max(watch.peak, float(evidence)),
            )
        return replace(watch, capitals=tuple(map(float, capitals)))


def step(
    capitals: FloatArray, audited: int, mistake: "bool | FloatArray", alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return the capitals, along the last axis, after one more audited answer, and the evidence then.

    ``mistake`` may be an array, for many streams at once. ``audited`` is how many came before.
    """
    rates = _ODDS * alpha / (1 - alpha + _ODDS * alpha)
    wrong = np.asarray(mistake, float)[..., None]
    ratios = wrong * rates / alpha + (1 - wrong) * (1 - rates) / (1 - alpha)
    waiting, waiting_after = 1 / (1 + np.log1p(audited)), 1 / (1 + np.log1p(audited + 1))
    grown = (capitals + waiting - waiting_after) * ratios
    return grown, grown.mean(axis=-1) + waiting_after
