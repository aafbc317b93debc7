"""The texts of one exchange, prepared, as everything that compares them reads them."""

from __future__ import annotations

from dataclasses import dataclass

from scoring.text.prepared import PreparedText


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
