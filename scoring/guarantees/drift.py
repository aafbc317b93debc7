"""How far the answers of today have drifted from those that a certificate was made from."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from scoring.policy.risk import LANGUAGE, TYPE

#: From this index on answers count as drifted, as is usual for the population stability index.
DRIFTED: Final = 0.25
#: So many answers are needed on both sides. Without drift the index times n m / (n + m) is distributed about
#: as chi-squared with one degree of freedom less than there are bins (Yurdakul 2018): with 500 answers each
#: and ten bins it exceeds 0.25 with a probability of about 10^-9.
MIN_ANSWERS: Final = 500
_DECILES: Final = np.linspace(0.1, 0.9, 9)
_CATEGORIES: Final = {"message_type": TYPE, "language": LANGUAGE}


def drift(before: Sequence[Mapping[str, float]], now: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the stability index of each input of the risk; empty if there are too few answers.

    ``before`` and ``now`` have the inputs of each answer, by name, without those that are 0. Message types
    and languages have one index each.
    """
    if min(len(before), len(now)) < MIN_ANSWERS:
        return {}
    prefixes = tuple(_CATEGORIES.values())
    names = sorted({name for each in (*before, *now) for name in each if not name.startswith(prefixes)})
    found = {name: stability_index(_values(name, before), _values(name, now)) for name in names}
    for name, prefix in _CATEGORIES.items():
        counts = _categories(prefix, before), _categories(prefix, now)
        bins = sorted(counts[0].keys() | counts[1].keys())
        found[name] = _index(*(np.array([count[each] for each in bins], float) for count in counts))
    return found


def stability_index(before: npt.NDArray[np.float64], now: npt.NDArray[np.float64]) -> float:
    """Return the population stability index of two samples, in bins by the deciles of the first one.

    >>> round(stability_index(np.arange(1000.0), np.arange(1000.0) + 100), 2)
    0.6
    """
    edges = np.unique(np.quantile(before, _DECILES))
    counts = (np.bincount(np.searchsorted(edges, each), minlength=len(edges) + 1) for each in (before, now))
    return _index(*(each.astype(float) for each in counts))


def _index(before: npt.NDArray[np.float64], now: npt.NDArray[np.float64]) -> float:
    # Half an answer more in each bin, so that an empty one has a share.
    p, q = ((each + 0.5) / (each + 0.5).sum() for each in (before, now))
    return float(((p - q) * np.log(p / q)).sum())


def _values(name: str, answers: Iterable[Mapping[str, float]]) -> npt.NDArray[np.float64]:
    return np.array([each.get(name, 0.0) for each in answers])


def _categories(prefix: str, answers: Iterable[Mapping[str, float]]) -> Counter[str]:
    return Counter(name for each in answers for name in each if name.startswith(prefix))
