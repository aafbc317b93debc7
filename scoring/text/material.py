"""The texts of one exchange, prepared, as everything that compares them reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from scoring.text.prepared import PreparedText

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ContextText:
    """A document of the context, prepared; the preparation is shared by all answers that cite it.

    ``version`` is that of the document where it is known. ``body``: where in ``text`` the document's own text
    begins, after its title, None where ``text`` is a translation of it; ``offset``: where that is in the
    document, of which it may be a part.
    """

    document_id: str
    text: PreparedText
    version: str | None = None
    body: int | None = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Material:
    """The texts of one exchange, all in one language.

    ``answer`` is compared without its greeting and closing, ``whole_answer`` with them: what looks
    like a closing may name a component. Without one, ``answer`` is whole. ``company_terms`` are the
    folded words of the company's own language, or None where they are not known. ``verified``: by the
    place of a claim among those of the answer, the probability that the documents support it, of those that
    a verifier gave an opinion on; None where none is named. ``quoted``: the id of the published document of
    which the answer is all, and which the question names, if there is one. Nothing that is derived depends on
    these two.
    """

    question: PreparedText
    answer: PreparedText
    context: tuple[ContextText, ...]
    whole_answer: PreparedText | None = None
    company_terms: frozenset[str] | None = None
    verified: Mapping[int, float] | None = None
    quoted: str | None = None
    _derived: dict[Callable[..., Any], Any] = field(default_factory=dict, repr=False, compare=False)

    def derived(self, derive: Callable[[Material], T]) -> T:
        """Return ``derive(self)``, computed once; ``derive`` must be a pure module-level function."""
        if derive not in self._derived:
            self._derived[derive] = derive(self)
        result: T = self._derived[derive]
        return result
