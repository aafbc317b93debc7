"""Tests of thresholds: the largest set of answers whose share of mistakes is shown to be at most a level."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import optimize, special, stats

Floats = npt.NDArray[np.float64]

#: The bets of a mixture, as shares of the one that a single mistake of the largest weight loses. Against a
#: level of mistakes the best bet is 1 - their share / level: these are for 70, 45 and 20% of the level.
_BETS: Final = np.array([0.3, 0.55, 0.8])
#: The thresholds that are tried leave such shares of the answers; a finer grid stops at more chance mistakes.
_SHARES: Final = np.arange(1, 26) / 25
#: No deployment rates more.
_MOST_RATINGS: Final = 10**9
#: What is more probably a mistake than not is in no set, even where the promise would leave room for it.
_MAX_EXPECTED: Final = 0.5
#: What the model expects of a set is taken for no better than this share of the level.
_BEST_EXPECTED: Final = 0.2


def delta_of_attempt(delta: float, attempt: int) -> float:
    """Return the part of ``delta`` for the n-th fit to ratings of one stream, from 1.

    A bound for one sample does not hold for the best of several that are tried until one passes. The parts
    add up to ``delta``, so that with probability 1 - ``delta`` no attempt ever promises too much.
    """
    return delta / (attempt * (attempt + 1))


def ratings_needed(level: float, delta: float, mistakes: int = 0) -> int:
    """Return the fewest ratings that can show a share of at most ``level``, with so many mistakes in them.

    >>> ratings_needed(0.05, 0.05), ratings_needed(0.05, 0.05, 1)
    (59, 93)
    """
    numbers = range(mistakes + 1, _MOST_RATINGS)
    found = bisect_left(numbers, x=True, key=lambda number: binomial_p(mistakes, number, level) <= delta)
    return mistakes + 1 + found


def binomial_p(mistakes: int, number: int, level: float) -> float:
    """Return the exact p-value of "the share is above ``level``" for ratings that weigh the same.

    Of units drawn without replacement the binomial tail is the larger one (Uhlmann 1966), so it holds for a
    finite stream too. Angelopoulos, Bates, Candès, Jordan and Lei, "Learn then Test" (2021), section 2.
    """
    return float(special.bdtr(mistakes, number, level)) if number else 1.0


def betting_p(mistakes: Floats, weights: Floats, max_weight: float, level: float) -> float:
    """Return the p-value of the same for weighted ratings: 1 / :func:`betting_evidence`, at most 1."""
    return float(np.exp(-max(0.0, betting_evidence(mistakes, weights, max_weight, level))))


def betting_evidence(mistakes: Floats, weights: Floats, max_weight: float, level: float) -> float:
    """Return the logarithm of the e-value of ratings with weights w = 1 / inclusion probability.

    The capital of a bet b against the hypothesis is the product of 1 - b w (mistake - level); the e-value is
    the mean over several bets (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by
    betting", 2023), and 1 / e is a p-value by Markov. It needs only that units are drawn independently: the
    mean of a factor over the draw is 1 - b (mistake - level), and the product of these over the population is
    at most exp(-b * the sum of (mistake - level)), hence at most 1 if its share is above the level. So the
    order does not matter, and the stream may drift. The final capital counts, not its largest value: that
    would need a stream without drift.

    Args:
        mistakes: 1 for a mistake, 0 for none, of each drawn unit of the set.
        weights: their weights.
        max_weight: the largest weight that the design has, whatever was drawn.
        level: the share.
    """
    bets = _BETS[:, None] / (max_weight * (1 - level))
    capitals = np.log1p(-bets * weights * (mistakes - level)).sum(axis=1)
    return float(np.logaddexp.reduce(capitals) - np.log(len(_BETS)))


@dataclass(frozen=True, slots=True)
class Population:
    """All answers of a stream that a threshold may cover, whether rated or not, an item each.

    The set of a threshold are those whose place in ``order`` is at most that: the risk for sending, the
    negative risk for blocking. ``expected`` is the probability of a mistake by the model. ``inclusions`` is
    the probability with which each came to be rated by design, 0 for what could not be drawn, and ``drawn``
    whether it was. ``mistakes`` is 1 for a mistake, and for what was drawn and not rated after all: what is
    unknown counts as a mistake. ``answers`` are numbers, equal for equal answers.
    """

    order: Floats
    expected: Floats
    inclusions: Floats
    drawn: npt.NDArray[np.bool_]
    mistakes: Floats
    answers: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ThresholdResult:
    """One threshold: its set's share of all answers, its ratings and mistakes, and what they show.

    ``estimate`` is the weighted share of mistakes, ``bound`` the upper bound at 1 - delta on its own, ``p``
    the p-value of a share above the level. ``uncovered`` is the share of the set that nothing was drawn of:
    it counts as mistakes.
    """

    threshold: float
    coverage: float
    number: int
    mistakes: int
    estimate: float
    bound: float
    p: float
    uncovered: float


def check_threshold(population: Population, threshold: float, level: float, delta: float) -> ThresholdResult:
    """Test one threshold.

    Where a share q of the set could not be drawn at all, all of it may be mistakes. So the rest is held to
    (level - q) / (1 - q), and with q above the level nothing is shown, however good the rest: the ratings of
    held answers say nothing of what was sent.

    Answers that are given again and again have to pass a second time, each of them counted once, as a mistake
    if any of its ratings is one: thirty answers, each rated twenty times, are no six hundred ratings.
    """
    members = population.order <= threshold
    drawable = members & (population.inclusions > 0)
    rated = drawable & population.drawn
    uncovered = float((members & ~drawable).sum() / members.sum()) if members.any() else 1.0
    weights, mistakes = 1 / population.inclusions[rated], population.mistakes[rated]
    max_weight = 1 / population.inclusions[drawable].min() if drawable.any() else 1.0
    is_equal = len(np.unique(population.inclusions[drawable])) == 1
    number, count = int(rated.sum()), int(mistakes.sum())
    different = len(np.unique(population.answers[rated]))
    wrong = len(np.unique(population.answers[rated][mistakes > 0]))

    def p_value(share: float) -> float:
        once = binomial_p(wrong, different, share) if different < number else 0.0
        if is_equal:
            return max(once, binomial_p(count, number, share))
        return max(once, betting_p(mistakes, weights, max_weight, share))

    rest_level = (level - uncovered) / (1 - uncovered) if uncovered < level else 0.0
    p = p_value(rest_level) if rest_level > 0 and number else 1.0
    bound = uncovered + (1 - uncovered) * _upper_bound(p_value, delta) if number else 1.0
    estimate = float(np.average(mistakes, weights=weights)) if number else 1.0
    return ThresholdResult(
        threshold, float(members.mean()), number, count, estimate, float(bound), p, uncovered
    )


def _upper_bound(p_value: Callable[[float], float], delta: float) -> float:
    """Return the largest share that is not refuted at ``delta``: Clopper and Pearson's, where binomial."""
    low, high = 1e-9, 1 - 1e-9
    if p_value(high) > delta:
        return 1.0
    return float(optimize.brentq(lambda share: p_value(share) - delta, low, high, xtol=1e-6))


def largest_threshold(
    population: Population, level: float, delta: float
) -> tuple[ThresholdResult | None, tuple[ThresholdResult, ...]]:
    """Return the largest threshold that passes, if any, and all that were tested, in their order.

    Fixed-sequence testing ("Learn then Test", section 4 and appendix on fixed sequences): thresholds in an
    order that no rating had a part in, each at the whole ``delta``, up to the first that fails. Any set with
    too many mistakes is promised with probability ``delta`` at most, since the first of these in the order
    has to pass for it. The grid is made of the risks of the whole population, and the sequence begins where
    the model expects the best chance to pass, and goes on to larger sets: a set that holds no rating could
    show nothing, and would end the sequence at once.

    The risks must come of a model that was not fitted to these ratings.
    """
    order = population.order[population.expected <= _MAX_EXPECTED]
    if not len(order):
        return None, ()
    grid = np.unique(np.quantile(order, _SHARES, method="inverted_cdf"))
    start = _best_start(population, grid, level, delta)
    tested: list[ThresholdResult] = []
    for threshold in grid[start:]:
        tested.append(check_threshold(population, float(threshold), level, delta))
        if tested[-1].p > delta:
            break
    passed = [each for each in tested if each.p <= delta]
    return (passed[-1] if passed else None), tuple(tested)


def _best_start(population: Population, grid: Floats, level: float, delta: float) -> int:
    """Return the place in the grid whose set has the best chance to pass, by the model and the design.

    The number of ratings to expect is that of equal weights that tell as much (Kish's effective size). Where
    no set has enough of them, it is the largest one that the model expects to be good enough.
    """
    members = population.order[None, :] <= grid[:, None]
    drawable = members & (population.inclusions > 0)
    spread = drawable @ (1 / np.where(population.inclusions > 0, population.inclusions, 1.0))
    numbers = (drawable.sum(axis=1) ** 2 / np.maximum(spread, 1.0)).astype(int)
    expected = np.maximum(members @ population.expected / members.sum(axis=1), _BEST_EXPECTED * level)
    allowed = stats.binom.ppf(delta, numbers, level)
    allowed = np.where(special.bdtr(allowed, numbers, level) > delta, allowed - 1, allowed)
    if allowed.max() < 0:
        return int(max(np.flatnonzero(expected <= level), default=len(grid) - 1))
    return int(
        np.argmax(np.where(allowed < 0, -1.0, special.bdtr(np.maximum(allowed, 0), numbers, expected)))
    )
