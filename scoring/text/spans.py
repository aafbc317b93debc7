"""Spans of an answer as evidence, quoted from what the chatbot wrote even where it was translated."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from scoring.text.prepared import PreparedText
from scoring.text.translated import original_spans
from scoring.values.types import Evidence

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
