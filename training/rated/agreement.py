"""The ratings of several raters brought together: what they agree on, and what a third decides.

Run as ``python -m training.rated.agreement --written WRITTEN --out ANSWERS``. ``WRITTEN`` has
``PRODUCT.LANGUAGE.jsonl`` as the writers made them, ``.second.jsonl`` with the blind ratings of others, and
``.third.jsonl`` with those of a third on what the two disagree on. Prints the agreement as a Markdown table.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scipy.stats import spearmanr

from training.packed import read_lines, write_lines

Line = dict[str, Any]
_COLUMNS = (
    *("", "rated twice", "equal", "Spearman", "further apart", "same type"),
    *("decided by a third", "left out", "ratings"),
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the first two raters of a file agree, and what becomes of their disagreements.

    ``pairs`` are their ratings, ``decided`` how many a third decided, ``left_out`` how many nobody could.
    """

    pairs: Sequence[tuple[int, int]]
    same_type: int
    decided: int = 0
    left_out: int = 0
    kept: Counter[int] = field(default_factory=Counter)

    @property
    def exact(self) -> float:
        """The share of equal ratings."""
        return sum(first == second for first, second in self.pairs) / len(self.pairs)

    @property
    def spearman(self) -> float:
        """Spearman's correlation of the two ratings."""
        return float(spearmanr(*zip(*self.pairs, strict=True)).statistic)

    @property
    def far(self) -> int:
        """How many differ by more than one."""
        return sum(abs(first - second) > 1 for first, second in self.pairs)


def agreed_rating(first: int, second: int, third: int | None) -> int | None:
    """Return the rating that two of three gave; None where no two did, or a third is needed and missing."""
    return first if first in (second, third) else third if third == second else None


def settled(
    written: Sequence[Line], second: Mapping[str, Line], third: Mapping[str, Line]
) -> tuple[list[Line], Agreement]:
    """Return the answers on whose rating two raters agree, and how far they agreed.

    A line has all ratings: ``rating`` the agreed one, ``rating_first``, ``rating_second`` and, where there is
    one, ``rating_third``. Answers without a second rating are left out.
    """
    rated = [(line, second[line["answer_id"]]) for line in written if line["answer_id"] in second]
    lines, decided = [], 0
    for line, other in rated:
        last = third.get(line["answer_id"], {}).get("rating")
        rating = agreed_rating(line["rating"], other["rating"], last)
        if rating is None:
            continue
        decided += line["rating"] != other["rating"]
        ratings = {"rating": rating, "rating_first": line["rating"], "rating_second": other["rating"]}
        lines.append({**line, **ratings} | ({} if last is None else {"rating_third": last}))
    return lines, Agreement(
        pairs=[(line["rating"], other["rating"]) for line, other in rated],
        same_type=sum(line["message_type"] == other.get("message_type") for line, other in rated),
        decided=decided,
        left_out=len(rated) - len(lines),
        kept=Counter(line["rating"] for line in lines),
    )


def disputed(written: Sequence[Line], second: Mapping[str, Line]) -> Iterator[Line]:
    """Yield the answers that a third has to rate."""
    for line in written:
        other = second.get(line["answer_id"])
        if other and other["rating"] != line["rating"]:
            yield line


def _by_id(path: Path) -> dict[str, Line]:
    return {line["answer_id"]: line for line in read_lines(path)} if path.exists() else {}


def _row(name: str, found: Agreement) -> str:
    kept = ", ".join(f"{rating}: {found.kept[rating]}" for rating in sorted(found.kept, reverse=True))
    count = len(found.pairs)
    same_type = f"{found.same_type / count:.0%}"
    cells = (name, count, f"{found.exact:.0%}", f"{found.spearman:.2f}", found.far, same_type)
    return f"| {' | '.join(map(str, (*cells, found.decided, found.left_out, kept)))} |\n"


def main() -> None:
    """Read the arguments and write the agreed answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--written", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    sys.stdout.write(f"| {' | '.join(_COLUMNS)} |\n{'|---' * len(_COLUMNS)}|\n")
    for path in sorted(options.written.glob("*.??.jsonl")):
        second, third = (_by_id(path.with_suffix(f".{rater}.jsonl")) for rater in ("second", "third"))
        if not second:
            continue
        lines, found = settled(read_lines(path), second, third)
        write_lines(options.out / f"{path.name}.gz", lines)
        sys.stdout.write(_row(path.stem, found))


if __name__ == "__main__":
    main()
