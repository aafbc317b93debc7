"""Spans of an answer as evidence, quoted from what the chatbot wrote even where it was translated."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from scoring.text.prepared import PreparedText, Source
from scoring.values.types import Evidence, Segment

# A verdict must fit a Kafka record whatever the answer holds; nobody reads more than this.
MAX_EVIDENCE = 50


def span_evidence(
    kind: str, answer: PreparedText, spans: Iterable[tuple[int, int]], document_id: str | None = None
) -> tuple[Evidence, ...]:
    """Return evidence for spans of the answer (character offsets), at most MAX_EVIDENCE.

    For a translated answer it quotes the sentences of the original that the spans translate.
    """
    original, places = answer.original, spans
    if answer.source is not None:
        original, places = answer.source.text, original_spans(answer.source, spans)
    return tuple(
        Evidence(kind, original[start:end], start, end, document_id)
        for start, end in islice(places, MAX_EVIDENCE)
    )


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
