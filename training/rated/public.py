"""Support on public answers of real dialogue systems, beside plain overlap of words.

Reads the files of BEGIN (Dziri et al., "Evaluating Attribution in Dialogue Systems: The BEGIN Benchmark",
2022), which are fetched by hand and no part of the project: ``python -m training.rated.public FILE.tsv ...``.
"""

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from scoring import Exchange, Passage, Scorer
from scoring.evaluation.statistics import auroc
from scoring.lexicon import load_shipped
from scoring.text.prepared_text import folded_words

_LABELS = {"Fully attributable": True, "Not fully attributable": False}


def main(paths: Sequence[str]) -> None:
    """Print for each file how often an attributable answer has more support than one that is not."""
    scorers = {name: Scorer(name) for name in ("truthgate", "paper")}
    for path in paths:
        measured = [(label, _measures(exchange, scorers)) for exchange, label in _answers(Path(path))]
        true, untrue = ([each for label, each in measured if label is kind] for kind in (True, False))
        sys.stdout.write(f"{Path(path).stem}: {len(true)} attributable, {len(untrue)} not\n")
        for name in true[0]:
            found = auroc(_values(untrue, name), _values(true, name))
            if found and found.low is not None and found.high is not None:
                sys.stdout.write(f"  {name:16} {found.value:.2f} [{found.low:.2f}, {found.high:.2f}]\n")


def _answers(path: Path) -> Iterator[tuple[Exchange, bool]]:
    """Yield the answers that are labelled as attributable or not; those that say nothing are neither."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            label = _LABELS.get(row["begin_label"])
            if label is not None:
                context = (Passage("knowledge", row["knowledge"]),)
                yield Exchange(row["message"], row["response"], context, "en"), label


def _measures(exchange: Exchange, scorers: Mapping[str, Scorer]) -> dict[str, float | None]:
    own = scorers["truthgate"].score(exchange)
    features = {value.name: value.value for value in own.features}
    return {
        "support": own.support,
        "claims_covered": features.get("claims_covered"),
        "overlap": _overlap(exchange),
        "paper's score": scorers["paper"].score(exchange).score,
    }


def _overlap(exchange: Exchange) -> float | None:
    """Return the share of the answer's words, function words apart, that the document has."""
    empty = load_shipped()["en"].function_words
    said = [word for word in folded_words(exchange.answer) if word not in empty]
    known = set(folded_words(exchange.context[0].text))
    return sum(word in known for word in said) / len(said) if said else None


def _values(measures: Sequence[Mapping[str, float | None]], name: str) -> list[float]:
    return [value for each in measures if (value := each[name]) is not None]


if __name__ == "__main__":
    main(sys.argv[1:])
