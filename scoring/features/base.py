"""What a feature is: something measured on the texts of one exchange, with its evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Protocol

from scoring.text import PreparedText
from scoring.translated import original_spans
from scoring.types import Evidence, FeatureValue

# A verdict must fit a Kafka record whatever the answer holds; nobody reads more than this.
MAX_EVIDENCE = 50


@dataclass(frozen=True, slots=True)
class ContextText:
    """A document of the context, prepared; the preparation is shared by all answers that cite it."""

    document_id: str
    text: PreparedText


@dataclass(frozen=True, slots=True)
class Material:
    """The texts of one exchange, all in one language.

    ``answer`` is compared without its greeting and closing, ``whole_answer`` with them: what looks
    like a closing may name a component. Without one, ``answer`` is whole. ``company_terms`` are the
    folded words of the company's own language, or None where they are not known. ``untranslated`` is
    the exchange as it came, where these texts are its translation.
    """

    question: PreparedText
    answer: PreparedText
    context: tuple[ContextText, ...]
    whole_answer: PreparedText | None = None
    company_terms: frozenset[str] | None = None
    untranslated: Material | None = None


class Resource(StrEnum):
    """What a language must have for a feature to be measured on its texts."""

    LEXICON = "lexicon"
    PIPELINE = "pipeline"
    COMPANY_TERMS = "company_terms"


class Feature(Protocol):
    """One heuristic of the paper's section V-B.

    ``measure`` is a pure function of the material, defined on empty texts, in time linear in
    their length, with a value in [0, 1] or None where the feature does not apply.
    ``on_translation`` tells whether it measures the English translation where there is one, and
    ``needs`` what it takes of the language that it measures. No feature is bound to one language.
    """

    @property
    def name(self) -> str:
        """The stable name that a verdict carries."""

    @property
    def on_translation(self) -> bool:
        """Whether the feature reads the translated texts."""

    @property
    def needs(self) -> frozenset[Resource]:
        """What the language of the texts must have; without company terms alone it is not applicable."""

    def measure(self, material: Material) -> FeatureValue:
        """Measure the answer against question and context."""


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
