"""From places in a translation to places in what was translated."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from scoring.text.prepared import Source
from scoring.values.types import Segment


def original_spans(source: Source, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the original that spans of its translation render, each once.

    A translation is known segment by segment only, so what is yielded are whole segments, without
    the white space around them. A span that renders nothing of the original is left out.
    """
    starts = [part.translated_start for part in source.segments]
    ends = [part.translated_end for part in source.segments]
    seen = set()
    for start, end in spans:
        met = source.segments[bisect_right(ends, start) : bisect_left(starts, end)]
        found = _trimmed(source.text, met) if met else None
        if found and found not in seen:
            seen.add(found)
            yield found


def _trimmed(text: str, met: Sequence[Segment]) -> tuple[int, int] | None:
    start = max(met[0].start, 0)
    stretch = text[start : max(met[-1].end, start)]
    kept = stretch.strip()
    start += len(stretch) - len(stretch.lstrip())
    return (start, start + len(kept)) if kept else None
