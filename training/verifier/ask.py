"""Asks a verifier about all claims of the answers: ``python -m training.verifier.ask FOLDER --out ROWS``.

``FOLDER`` is one that ``export`` wrote; without one only plain overlap is measured. Of the development
products it is asked about the answers alone that it was not trained on. ``measure`` reads ``ROWS``.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from scoring.scorer.classification import find_refusal
from scoring.text.prepared_text import PreparedText
from scoring.verifier.onnx import OnnxVerifier, VerifierInput, VerifierPrediction, open_verifier
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

#: What :func:`format_value` measures, in this order.
NAMES = ("share of the answer", "mean of the best windows", "least of the best windows")


def plain(line: Line, found: Context) -> tuple[float, ...]:
    """Return which share, by weight, of an answer's content stems stands in its documents.

    First of the whole answer in all documents; then of each claim in its best window, as mean and minimum.
    What the question says counts as known. Of an answer without claims all are 1.
    """
    language = line["language"]
    asked = stems(line["question"], language)
    everywhere = frozenset(found.weights)
    whole = found.share(stems(line["answer"], language) - asked, everywhere)
    best = [
        max((found.share(claim.stems - asked, window.stems) for window in found.windows), default=0.0)
        for claim in claims(line["answer"], language)
    ]
    return (whole, sum(best) / len(best), min(best)) if best else (whole, 1.0, 1.0)


_WINDOWS = 2
_UNLIMITED = 1e9


@dataclass(frozen=True, slots=True)
class Row:
    """One answer: its rating, what plain overlap says, and what the verifier says (nothing where not asked).

    ``verified``: mean and minimum of the claims' support, mean and maximum of their contradiction, each in
    the window that supports the claim most.
    """

    answer_id: str
    product: str
    language: str
    rating: int
    refuses: bool
    overlap: tuple[float, ...]
    verified: tuple[float, ...]


@dataclass(slots=True)
class Cost:
    """What asking took so far."""

    answers: int = 0
    pairs: int = 0
    seconds: float = 0.0


def read_rows(path: Path) -> list[Row]:
    """Read what this command wrote."""
    return [Row(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def rows(
    corpus: Path, products: Sequence[str], language: str, verifier: OnnxVerifier | None, cost: Cost
) -> Iterator[Row]:
    """Yield a row for each answer on products, and add to ``cost`` what it took."""
    for product in products:
        for line, found in answers(corpus, [product], language):
            unseen = product in VALIDATION or is_kept_apart(line["answer_id"])
            told = verified(line, found, verifier, cost) if verifier and unseen else ()
            yield Row(
                line["answer_id"],
                product,
                language,
                line["rating"],
                _refuses(line),
                plain(line, found),
                told,
            )


def verified(line: Line, found: Context, verifier: OnnxVerifier, cost: Cost) -> tuple[float, ...]:
    """Return what a verifier says of an answer: of one without claims, that all is supported."""
    asked = stems(line["question"], line["language"])
    said = claims(line["answer"], line["language"])
    windows = [found.best(claim.stems, asked, _WINDOWS) for claim in said]
    pairs = [
        VerifierInput(line["question"], claim.text, window.text)
        for claim, best in zip(said, windows, strict=True)
        for window in best
    ]
    if not pairs:
        return (1.0, 1.0, 0.0, 0.0)
    told = verifier.verify(pairs, line["language"], _UNLIMITED)
    cost.answers, cost.pairs, cost.seconds = (
        cost.answers + 1,
        cost.pairs + len(pairs),
        cost.seconds + told.seconds,
    )
    opinions = iter(told.predictions)
    best = [_best([next(opinions) for _ in some]) for some in windows if some]
    supported, contradicted = [one.supported for one in best], [one.contradicted for one in best]
    count = len(best)
    return (sum(supported) / count, min(supported), sum(contradicted) / count, max(contradicted))


def _best(opinions: Sequence[VerifierPrediction | None]) -> VerifierPrediction:
    return max((one for one in opinions if one), key=lambda one: one.supported)


def _refuses(line: Line) -> bool:
    words = lexicon(line["language"])
    answer, question = (PreparedText.of(line[name], words) for name in ("answer", "question"))
    return find_refusal(answer, question) is not None


def main() -> None:
    """Read the arguments, ask, and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verifier", type=Path, nargs="?", help="none: plain overlap alone")
    parser.add_argument("--corpus", type=Path, default=Path(__file__).parents[1] / "rated")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    verifier = open_verifier(options.verifier) if options.verifier else None
    cost = Cost()
    found = [
        row
        for products in (DEVELOPMENT, VALIDATION)
        for language in LANGUAGES
        for row in rows(options.corpus, products, language, verifier, cost)
    ]
    options.out.write_text("".join(json.dumps(asdict(row)) + "\n" for row in found), "utf-8")
    if cost.pairs:
        sys.stdout.write(
            f"{cost.pairs} pairs of {cost.answers} answers: "
            f"{cost.seconds / cost.pairs * 1000:.1f} ms a pair, "
            f"{cost.seconds / cost.answers * 1000:.0f} ms an answer\n"
        )


if __name__ == "__main__":
    main()
