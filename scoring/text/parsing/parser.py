"""From texts to parses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING

from scoring.lexicon import Lexicon
from scoring.text.parsing.parse import Parse
from scoring.text.parsing.pieces import pieces
from scoring.text.parsing.pipelines import check_pipeline, pipeline_for
from scoring.text.parsing.tokens import Columns

if TYPE_CHECKING:
    from spacy.language import Language

# Pieces that go through the pipeline together; more are no faster and need more memory.
_BATCH = 16
_REMEMBERED_LEMMAS = 50_000


class Parser:
    """Parses texts, each by the pipeline of its language.

    ``pipelines`` names those that differ from the defaults. Pipelines are loaded at their first use,
    once a process, each within what ``loading`` makes. Not safe for use by several threads.
    """

    def __init__(
        self,
        pipelines: Mapping[str, str] | None = None,
        loading: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._named = dict(pipelines or {})
        self._loading = loading
        self._loaded: dict[str, Language] = {}

    def load(self, language: str) -> Language:
        """Return the pipeline of a language, loaded; raises PipelineError where there is none."""
        if language not in self._loaded:
            with self._loading():
                self._loaded[language] = pipeline_for(language, self._named.get(language))
        return self._loaded[language]

    def check(self, language: str) -> None:
        """Refuse a language without a pipeline, as ``load`` does, but leave a default for when it is used."""
        check_pipeline(language, self._named.get(language))

    def parse_all(self, texts: Sequence[str], lexicon: Lexicon) -> list[Parse]:
        """Return the parses of several texts of one language, parsed together, which is faster."""
        nlp = self.load(lexicon.language)
        columns = [Columns(lexicon) for _ in texts]
        work = (
            (piece.text, (piece, column))
            for text, column in zip(texts, columns, strict=True)
            for piece in pieces(text)
        )
        # Outside such a zone spaCy would keep every word that it has ever seen.
        with nlp.memory_zone():
            for doc, (piece, column) in nlp.pipe(work, as_tuples=True, batch_size=_BATCH):
                column.add(doc, piece)
        _forget_lemmas(nlp)
        return [column.parse() for column in columns]


@cache
def default_parser() -> Parser:
    """Return the parser of the default pipelines."""
    return Parser()


def _forget_lemmas(nlp: Language) -> None:
    """Empty the memory of a lemmatizer by rules, which spaCy lets grow without end."""
    for _, component in nlp.pipeline:
        remembered = getattr(component, "cache", None)
        if isinstance(remembered, dict) and len(remembered) > _REMEMBERED_LEMMAS:
            remembered.clear()
