"""Prepares the texts of an exchange for the features, as they came and in English translation."""

from collections.abc import Iterable
from dataclasses import dataclass

from scoring.company_terms import Watched
from scoring.lexicon import Lexicon
from scoring.text.greeting import content_span
from scoring.text.parsing import Parser, make_together
from scoring.text.prepared import ContextText, Material, PreparedText, Source, TextCache
from scoring.values.assessment import CacheUse
from scoring.values.types import Exchange, Passage, TranslatedText


@dataclass(frozen=True, slots=True)
class Materials:
    """An exchange as it came and in English; one and the same where only one can be had."""

    as_it_came: Material
    english: Material


class Preparation:
    """Makes the material of exchanges; a document that many of them cite is prepared once.

    In memory every document is kept for a while. In a file only those from the store of documents are, whose
    passages name a version: a passage that came with its answer may quote what the customer wrote.

    ``english`` reads translations. ``parser`` parses every text. ``company_terms`` are those of any
    language, None where none are known. ``documents`` are those prepared so far.
    """

    def __init__(
        self, parser: Parser, english: Lexicon, company_terms: Watched | None, documents: TextCache
    ) -> None:
        self._parser = parser
        self._english = english
        self._company_terms = company_terms
        self._documents = documents

    @property
    def use(self) -> CacheUse:
        """How often a document has been found prepared since the start, and how often not."""
        documents = self._documents
        return CacheUse(documents.hits, documents.misses, documents.disk_hits)

    def question(self, exchange: Exchange, lexicon: Lexicon | None) -> PreparedText | None:
        """Prepare the question without its courtesies by the lexicon of its language.

        Without a lexicon it is the English translation, and without one of these None.
        """
        if lexicon is not None:
            return self._spoken(PreparedText.of(exchange.question, lexicon, parser=self._parser))
        if exchange.translation is not None:
            return self._spoken(self._translated(exchange.translation.question, exchange.question))
        return None

    def answer(self, exchange: Exchange, question: PreparedText) -> PreparedText:
        """Prepare the answer without its courtesies in the language that the question is read in."""
        if question.source is not None and exchange.translation is not None:
            return self._spoken(self._translated(exchange.translation.answer, exchange.answer))
        return self._spoken(PreparedText.of(exchange.answer, question.lexicon, parser=self._parser))

    def materials(self, exchange: Exchange, question: PreparedText, context: Iterable[Passage]) -> Materials:
        """Return the texts of an exchange; ``context`` are its passages that are not blank.

        Raises ValueError where a translation is not passage for passage that of the exchange.
        """
        as_it_came = None if question.source else self._as_it_came(exchange, question, context)
        english = self._in_english(exchange) if exchange.translation else as_it_came
        assert english is not None  # a question without a source is read by its own lexicon
        return Materials(as_it_came or english, english)

    def _as_it_came(self, exchange: Exchange, question: PreparedText, context: Iterable[Passage]) -> Material:
        lexicon = question.lexicon
        answer = PreparedText.of(exchange.answer, lexicon, parser=self._parser)
        documents = tuple(
            self._document(passage, passage.read, lexicon, len(passage.read) - len(passage.text))
            for passage in context
        )
        return Material(question, self._spoken(answer), documents, answer, self._terms(lexicon))

    def _in_english(self, exchange: Exchange) -> Material:
        translation = exchange.translation
        assert translation is not None
        question = self._spoken(self._translated(translation.question, exchange.question))
        answer = self._translated(translation.answer, exchange.answer)
        documents = tuple(
            self._document(passage, english.text, self._english)
            for passage, english in zip(exchange.context, translation.context, strict=True)
            if english.text.strip()
        )
        terms = self._terms(self._english)
        return Material(question, self._spoken(answer), documents, answer, terms)

    def _terms(self, lexicon: Lexicon) -> frozenset[str] | None:
        return self._company_terms.for_language(lexicon.language) if self._company_terms else None

    def _translated(self, english: TranslatedText, original: str) -> PreparedText:
        source = Source(original, english.segments)
        return PreparedText.of(english.text, self._english, parser=self._parser, source=source)

    def _spoken(self, text: PreparedText) -> PreparedText:
        return text.part(*content_span(text.original, text.lexicon))

    def _document(
        self, passage: Passage, text: str, lexicon: Lexicon, body: int | None = None
    ) -> ContextText:
        prepared = self._documents.prepare(text, lexicon, lasting=passage.version is not None)
        return ContextText(passage.document_id, prepared, passage.version, body, passage.offset)


def parse_material(material: Material) -> None:
    """Parse the texts of a material together; what is parsed already is not parsed again."""
    documents = [document.text for document in material.context]
    texts = (material.whole_answer or material.answer, material.question, *documents)
    make_together(text.whole_parse for text in texts)
