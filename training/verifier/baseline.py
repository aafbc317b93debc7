"""Plain measures of how much of an answer stands in its documents, which the verifier is compared with."""

from training.verifier.texts import Context, Line, claims, stems

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
