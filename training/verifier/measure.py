"""Measures how well a verifier tells true answers from untrue ones.

Run as ``python -m training.verifier.measure ROWS`` on what ``ask`` wrote. Prints, for each language of the
validation products, how often a true answer is above an untrue one (AUROC with intervals of 95%): by plain
overlap, by what the verifier says of the claims, and by mixtures of these. Mixtures are fitted on the
development products; those with the verifier on the answers alone that were kept apart from its training.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax
from scipy.stats import rankdata

from scoring.evaluation.statistics import Estimate, auroc, paired_estimate
from training.verifier.ask import NAMES, Row, read_rows
from training.verifier.pairs import is_kept_apart
from training.verifier.texts import DEVELOPMENT, LANGUAGES, VALIDATION

Matrix = npt.NDArray[np.float64]

_PENALTY = 1.0
_NO_WIDTH = 1e-9


def mixture(rows: Sequence[Sequence[float]], true: Sequence[bool]) -> Callable[[Matrix], Matrix]:
    """Fit a logistic regression on standardised columns, and return what gives its logits."""
    columns = np.array(rows, np.float64)
    middle, width = columns.mean(0), columns.std(0) + _NO_WIDTH
    signs = np.where(np.array(true), -1.0, 1.0)

    def with_constant(given: Matrix) -> Matrix:
        return np.column_stack(((given - middle) / width, np.ones(len(given))))

    known = with_constant(columns)

    def surprise(weights: Matrix) -> float:
        size = _PENALTY * (weights[:-1] ** 2).sum() / 2
        return float(np.logaddexp(0, signs * (known @ weights)).sum() + size)

    weights = minimize(surprise, np.zeros(known.shape[1])).x
    return lambda given: np.asarray(with_constant(given) @ weights)


def lift(true: Sequence[bool], before: Sequence[float], after: Sequence[float]) -> Estimate | None:
    """Return by how much the area under the ROC curve is larger, resampling whole answers."""
    return paired_estimate(_larger, [float(is_true) for is_true in true], before, after)


def _larger(true: Matrix, before: Matrix, after: Matrix, axis: int = -1) -> Matrix:
    return _area(true, after, axis) - _area(true, before, axis)


def _area(true: Matrix, values: Matrix, axis: int) -> Matrix:
    # Resamples differ in how many true answers they hold, so each is counted by itself.
    ranks = np.asarray(rankdata(values, axis=axis))
    above = true.sum(axis)
    below = true.shape[axis] - above
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(((ranks * true).sum(axis) - above * (above + 1) / 2) / (above * below))


Logits = npt.NDArray[np.float32]

_COLDEST, _HOTTEST = 0.2, 10.0


def temperature(logits: Logits, labels: npt.NDArray[np.int64]) -> float:
    """Return what to divide logits by so that the labels surprise least."""

    def surprise(heat: float) -> float:
        told = log_softmax(logits / heat, axis=1)
        return -float(told[np.arange(len(labels)), labels].mean())

    return float(minimize_scalar(surprise, bounds=(_COLDEST, _HOTTEST), method="bounded").x)


Columns = Callable[[Row], Sequence[float]]

_UNDECIDED = 3
_VERIFIED = ("mean of supported", "least supported", "mean of contradicted", "most contradicted")
_LOWER_IS_TRUE = (False, False, True, True)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Which answers are compared, by their ratings, and whether those that refuse are among them."""

    name: str
    untrue: frozenset[int]
    true: frozenset[int]
    with_refusals: bool = True

    def places(self, rows: Sequence[Row]) -> list[int]:
        """Return the places of the answers that are compared."""
        rated = self.untrue | self.true
        return [
            place
            for place, row in enumerate(rows)
            if row.rating in rated and (self.with_refusals or not row.refuses)
        ]


_COMPARISONS = (
    Comparison("1 against 5", frozenset({1}), frozenset({5})),
    Comparison("1, 2 against 4, 5", frozenset({1, 2}), frozenset({4, 5})),
    Comparison("1 against 5, without refusals", frozenset({1}), frozenset({5}), with_refusals=False),
)


def table(language: str, rows: Sequence[Row], fitting: Sequence[Row]) -> str:
    """Return a table in Markdown; ``fitting`` are the answers on the development products."""
    heading = " | ".join((language, *(each.name for each in _COMPARISONS)))
    parts = [f"| {heading} |\n|---|---|---|---|\n"]
    apart = [row for row in fitting if is_kept_apart(row.answer_id)]
    parts += [_line(name, rows, _column(rows, "overlap", place)) for place, name in enumerate(NAMES)]
    plainly = _mixed(rows, fitting, _overlap)
    parts.append(_line("mixture of the plain", rows, plainly))
    if rows[0].verified:
        for place, name in enumerate(_VERIFIED):
            sign = -1 if _LOWER_IS_TRUE[place] else 1
            parts.append(_line(name, rows, sign * _column(rows, "verified", place)))
        by_verifier = _mixed(rows, apart, _support)
        parts.append(_line("mixture of the verifier's support", rows, by_verifier))
        together = {
            "mixture of plain and support": _mixed(rows, apart, lambda row: (*_overlap(row), *_support(row))),
            "sum of the two mixtures' logits": plainly + by_verifier,
        }
        for name, values in together.items():
            parts += [_line(name, rows, values), _lift(f"{name}: lift over the plain", rows, plainly, values)]
    return "".join(parts)


def _overlap(row: Row) -> Sequence[float]:
    return row.overlap


def _support(row: Row) -> Sequence[float]:
    # Contradiction is left out of mixtures: what is spoken of at all is rather contradicted than absent.
    return row.verified[:2]


def _column(rows: Sequence[Row], name: str, place: int) -> Matrix:
    return np.array([getattr(row, name)[place] for row in rows], np.float64)


def _mixed(rows: Sequence[Row], fitting: Sequence[Row], columns: Columns) -> Matrix:
    decided = [row for row in fitting if row.rating != _UNDECIDED]
    fitted = mixture([columns(row) for row in decided], [row.rating > _UNDECIDED for row in decided])
    return fitted(np.array([columns(row) for row in rows], np.float64))


def _line(name: str, rows: Sequence[Row], values: Matrix) -> str:
    cells = []
    for comparison in _COMPARISONS:
        places = comparison.places(rows)
        below = [values[place] for place in places if rows[place].rating in comparison.untrue]
        above = [values[place] for place in places if rows[place].rating in comparison.true]
        cells.append(_shown(auroc(below, above)))
    return f"| {name} | {' | '.join(cells)} |\n"


def _lift(name: str, rows: Sequence[Row], before: Matrix, after: Matrix) -> str:
    cells = []
    for comparison in _COMPARISONS:
        places = comparison.places(rows)
        true = [rows[place].rating in comparison.true for place in places]
        cells.append(_shown(lift(true, before[places].tolist(), after[places].tolist())))
    return f"| {name} | {' | '.join(cells)} |\n"


def _shown(found: Estimate | None) -> str:
    return f"{found.value:.3f} [{found.low:.2f}, {found.high:.2f}]" if found else ""


def main() -> None:
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    options = parser.parse_args()
    found = read_rows(options.rows)
    fitting = [row for row in found if row.product in DEVELOPMENT]
    for language in LANGUAGES:
        own = [row for row in found if row.product in VALIDATION and row.language == language]
        sys.stdout.write(f"\n{table(language, own, fitting)}")


if __name__ == "__main__":
    main()
