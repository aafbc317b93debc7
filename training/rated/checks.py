"""How often each check is right: the rated answers in which it found something, by how true they are.

``python -m training.rated.checks PRODUCT ...`` scores the answers of these products, and writes the counts
into ``checks.json`` beside it, from which ``python -m docs.generate`` makes the table of
``docs/reasons.md``. Without a PRODUCT it prints what is there.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from scoring import Exchange, Passage, Scorer
from scoring.scorer.profile import RULES
from scoring.scorer.score import triggered_rules
from training.packed import read_lines

_RATED = Path(__file__).parent
COUNTED = _RATED / "checks.json"
_PROFILE = "truthgate"
_NEUTRAL = 3


def main(products: Sequence[str]) -> None:
    """Count for these products, if any, and print all counts: untrue, true and rated 3."""
    counts = json.loads(COUNTED.read_text("utf-8")) if COUNTED.exists() else {}
    if products:
        counts[", ".join(products)] = counted(products)
        COUNTED.write_text(json.dumps(counts, indent=1) + "\n", "utf-8")
    for named, rows in counts.items():
        sys.stdout.write(f"{named}\n")
        for reason, row in rows.items():
            sys.stdout.write(f"  {reason:20} {' : '.join(map(str, row))}\n")


def counted(products: Sequence[str]) -> dict[str, list[int]]:
    """Return how many answers there are, and in how many each rule found something."""
    scorer, rules = Scorer(_PROFILE), RULES[_PROFILE]
    found = Counter[tuple[str, int]]()
    for rating, exchange in (each for product in products for each in _answers(product)):
        side = 0 if rating < _NEUTRAL else 1 if rating > _NEUTRAL else 2
        scored = scorer.score(exchange)
        met = triggered_rules(scored.features, rules)
        found.update((name, side) for name in ("answers", *map(str, met)))
    names = ("answers", *dict.fromkeys(str(rule) for rule in rules.values() if rule))
    return {name: [found[name, side] for side in range(3)] for name in names}


def _answers(product: str) -> Iterator[tuple[int, Exchange]]:
    for language in ("nl", "en"):
        file = f"{product}.{language}.jsonl.gz"
        known = {line["document_id"]: line for line in read_lines(_RATED / "documents" / file)}
        for line in read_lines(_RATED / "answers" / file):
            given = (known[name] for name in line["document_ids"] if name in known)
            context = tuple(Passage(each["document_id"], each["text"], each["title"]) for each in given)
            yield line["rating"], Exchange(line["question"], line["answer"], context, language)


if __name__ == "__main__":
    main(sys.argv[1:])
