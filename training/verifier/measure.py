"""Measures a verifier on answers: ``python -m training.verifier.measure FOLDER``, as ``export`` wrote it.

Prints, for each language of the validation products, how often a true answer is above an untrue one (AUROC
with intervals of 95%): by plain overlap, by what the verifier says of the claims in their best windows, and
by mixtures of these. Mixtures are fitted on the development products; those with the verifier on the answers
alone that were kept apart from its training.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from scoring.assessing.refusal import refusal
from scoring.evaluation.statistics import auroc
from scoring.text.prepared import PreparedText
from scoring.verifier.onnx import OnnxVerifier, open_verifier
from scoring.verifier.verifying import Asked, Opinion
from training.verifier.baseline import NAMES, plain
from training.verifier.pairs import is_kept_apart
from training.verifier.texts import (
    DEVELOPMENT,
    LANGUAGES,
    VALIDATION,
    Context,
    Line,
    answers,
    claims,
    lexicon,
    stems,
)

Matrix = npt.NDArray[np.float64]

_WINDOWS = 2
_UNLIMITED = 1e9
_PENALTY = 1.0
_UNDECIDED = 3
# Ratings of untrue answers, ratings of true ones, and whether answers that refuse are among them.
_COMPARED = (((1,), (5,), True), ((1, 2), (4, 5), True), ((1,), (5,), False))
_VERIFIED = ("mean of supported", "least supported", "mean of contradicted", "most contradicted")


@dataclass(frozen=True, slots=True)
class Row:
    """One answer: its rating, what plain overlap says, and what the verifier says (nothing without one)."""

    answer_id: str
    rating: int
    refuses: bool
    overlap: tuple[float, ...]
    verified: tuple[float, ...]


def verified(line: Line, found: Context, verifier: OnnxVerifier) -> tuple[tuple[float, ...], int, float]:
    """Return what a verifier says of an answer, how many pairs it was asked about, and its seconds.

    Mean and minimum of the claims' support, mean and maximum of their contradiction: of each claim in the
    window that supports it most. Of an answer without claims, that all is supported.
    """
    asked = stems(line["question"], line["language"])
    said = claims(line["answer"], line["language"])
    windows = [found.best(claim.stems, asked, _WINDOWS) for claim in said]
    pairs = [
        Asked(line["question"], claim.text, window.text)
        for claim, best in zip(said, windows, strict=True)
        for window in best
    ]
    if not pairs:
        return (1.0, 1.0, 0.0, 0.0), 0, 0.0
    told = verifier.verify(pairs, line["language"], _UNLIMITED)
    opinions = iter(told.opinions)
    best = [_best([next(opinions) for _ in some]) for some in windows if some]
    supported, contradicted = [one.supported for one in best], [one.contradicted for one in best]
    count = len(best)
    values = (sum(supported) / count, min(supported), sum(contradicted) / count, max(contradicted))
    return values, len(pairs), told.seconds


def _best(opinions: Sequence[Opinion | None]) -> Opinion:
    return max((one for one in opinions if one), key=lambda one: one.supported)


def mixture(rows: Sequence[Sequence[float]], true: Sequence[bool]) -> Callable[[Matrix], Matrix]:
    """Fit a logistic regression on standardised columns, and return what gives its logits."""
    columns = np.array(rows, np.float64)
    middle, width = columns.mean(0), columns.std(0) + 1e-9
    signs = np.where(np.array(true), -1.0, 1.0)

    def with_constant(given: Matrix) -> Matrix:
        return np.column_stack(((given - middle) / width, np.ones(len(given))))

    known = with_constant(columns)

    def surprise(weights: Matrix) -> float:
        return float(
            np.logaddexp(0, signs * (known @ weights)).sum() + _PENALTY * (weights[:-1] ** 2).sum() / 2
        )

    weights = minimize(surprise, np.zeros(known.shape[1])).x
    return lambda given: np.asarray(with_constant(given) @ weights)


def _rows(corpus: Path, products: Sequence[str], language: str, verifier: OnnxVerifier | None) -> list[Row]:
    began, pairs, seconds, rows = time.monotonic(), 0, 0.0, []
    for line, found in answers(corpus, products, language):
        told, count, took = verified(line, found, verifier) if verifier else ((), 0, 0.0)
        pairs, seconds = pairs + count, seconds + took
        rows.append(Row(line["answer_id"], line["rating"], _refuses(line), plain(line, found), told))
    if pairs:
        sys.stdout.write(
            f"{language} {'+'.join(products)}: {pairs} pairs, {seconds / pairs * 1000:.1f} ms a pair, "
            f"{seconds / len(rows) * 1000:.0f} ms an answer (all: {time.monotonic() - began:.0f} s)\n"
        )
    return rows


def _refuses(line: Line) -> bool:
    words = lexicon(line["language"])
    answer, question = (PreparedText.of(line[name], words) for name in ("answer", "question"))
    return refusal(answer, question) is not None


def _fit(rows: Sequence[Row], columns: Callable[[Row], Sequence[float]]) -> Callable[[Matrix], Matrix]:
    decided = [row for row in rows if row.rating != _UNDECIDED]
    return mixture([columns(row) for row in decided], [row.rating > _UNDECIDED for row in decided])


def _told(name: str, values: Sequence[float], rows: Sequence[Row]) -> str:
    cells = [name]
    for untrue, true, with_refusals in _COMPARED:
        kept = [pair for pair in zip(values, rows, strict=True) if with_refusals or not pair[1].refuses]
        below = [value for value, row in kept if row.rating in untrue]
        above = [value for value, row in kept if row.rating in true]
        found = auroc(below, above)
        cells.append(f"{found.value:.3f} [{found.low:.2f}, {found.high:.2f}]" if found else "")
    return f"| {' | '.join(cells)} |\n"


def _table(language: str, rows: Sequence[Row], fitting: Sequence[Row]) -> None:
    heading = ("1 against 5", "1, 2 against 4, 5", "1 against 5 without refusals")
    sys.stdout.write(f"\n| {' | '.join((language, *heading))} |\n|---|---|---|---|\n")
    for place, name in enumerate(NAMES):
        sys.stdout.write(_told(name, [row.overlap[place] for row in rows], rows))
    apart = [row for row in fitting if is_kept_apart(row.answer_id)]
    kinds: list[tuple[str, Sequence[Row], Callable[[Row], Sequence[float]]]] = [
        ("mixture of the plain", fitting, lambda row: row.overlap),
        ("the same, fitted on those kept apart", apart, lambda row: row.overlap),
    ]
    if rows[0].verified:
        for place, name in enumerate(_VERIFIED):
            sign = 1 if "support" in name else -1
            sys.stdout.write(_told(name, [sign * row.verified[place] for row in rows], rows))
        kinds += [
            ("mixture of the verifier's", apart, lambda row: row.verified),
            ("mixture of all", apart, lambda row: (*row.overlap, *row.verified)),
        ]
    for name, known, columns in kinds:
        fitted = _fit(known, columns)
        values = fitted(np.array([columns(row) for row in rows], np.float64))
        sys.stdout.write(_told(name, values.tolist(), rows))
    if rows[0].verified:
        sys.stdout.write(_told("sum of two mixtures' logits", _summed(rows, fitting, apart).tolist(), rows))


def _summed(rows: Sequence[Row], fitting: Sequence[Row], apart: Sequence[Row]) -> Matrix:
    """Return a mixture of two: that of plain overlap, fitted on all answers, and that of the verifier's."""
    plainly = _fit(fitting, lambda row: row.overlap)(np.array([row.overlap for row in rows]))
    return plainly + _fit(apart, lambda row: row.verified)(np.array([row.verified for row in rows]))


def main() -> None:
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verifier", type=Path, nargs="?", help="none: plain overlap alone")
    parser.add_argument("--corpus", type=Path, default=Path(__file__).parents[1] / "rated")
    options = parser.parse_args()
    verifier = open_verifier(options.verifier) if options.verifier else None
    fitting = [
        row for language in LANGUAGES for row in _rows(options.corpus, DEVELOPMENT, language, verifier)
    ]
    for language in LANGUAGES:
        _table(language, _rows(options.corpus, VALIDATION, language, verifier), fitting)


if __name__ == "__main__":
    main()
