"""Prepares the texts of an exchange for the features, as they came and in English translation."""

from collections.abc import Iterable
from dataclasses import dataclass

from scoring.company_terms import WatchedTermsFile
from scoring.lexicon import Lexicon
from scoring.text.greeting import content_span
from scoring.text.parsing import Parser, parse_together
from scoring.text.prepared_text import (
    PreparedExchange,
    PreparedPassage,
    PreparedText,
    TextCache,
    TranslationSource,
)
from scoring.values.exchange import Exchange, Passage, TranslatedText
from scoring.values.scored_answer import CacheUse


@dataclass(frozen=True, slots=True)
class BilingualExchange:
    """An exchange as it came and in English; one and the same where only one can be had."""

    original: PreparedExchange
    english: PreparedExchange


class ExchangePreparer:
    """Makes the material of exchanges; a document that many of them cite is prepared once.

    In memory every document is kept for a while. In a file only those from the store of documents are, whose
    passages name a version: a passage that came with its answer may quote what the customer wrote.

    ``english`` reads translations. ``parser`` parses every text. ``company_terms`` are those of any
    language, None where none are known. ``documents`` are those prepared so far.
    """

    def __init__(
        self, parser: Parser, english: Lexicon, company_terms: WatchedTermsFile | None, documents: TextCache
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

    def prepare_question(self, exchange: Exchange, lexicon: Lexicon | None) -> PreparedText | None:
        """Prepare the question without its courtesies by the lexicon of its language.

        Without a lexicon it is the English translation, and without one of these None.
        """
        if lexicon is not None:
            return self._without_courtesies(PreparedText.of(exchange.question, lexicon, parser=self._parser))
        if exchange.translation is not None:
            return self._without_courtesies(
                self._prepare_translation(exchange.translation.question, exchange.question)
            )
        return None

    def prepare_answer(self, exchange: Exchange, question: PreparedText) -> PreparedText:
        """Prepare the answer without its courtesies in the language that the question is read in."""
        if question.source is not None and exchange.translation is not None:
            return self._without_courtesies(
                self._prepare_translation(exchange.translation.answer, exchange.answer)
            )
        return self._without_courtesies(
            PreparedText.of(exchange.answer, question.lexicon, parser=self._parser)
        )

    def prepare_exchange(
        self, exchange: Exchange, question: PreparedText, context: Iterable[Passage]
    ) -> BilingualExchange:
        """Return the texts of an exchange; ``context`` are its passages that are not blank.

        Raises ValueError where a translation is not passage for passage that of the exchange.
        """
        original = None if question.source else self._original_exchange(exchange, question, context)
        english = self._english_exchange(exchange) if exchange.translation else original
        assert english is not None  # a question without a source is read by its own lexicon
        return BilingualExchange(original or english, english)

    def _original_exchange(
        self, exchange: Exchange, question: PreparedText, context: Iterable[Passage]
    ) -> PreparedExchange:
        lexicon = question.lexicon
        answer = PreparedText.of(exchange.answer, lexicon, parser=self._parser)
        documents = tuple(
            self._prepare_passage(
                passage, passage.text_with_title, lexicon, len(passage.text_with_title) - len(passage.text)
            )
            for passage in context
        )
        return PreparedExchange(
            question, self._without_courtesies(answer), documents, answer, self._terms(lexicon)
        )

    def _english_exchange(self, exchange: Exchange) -> PreparedExchange:
        translation = exchange.translation
        assert translation is not None
        question = self._without_courtesies(
            self._prepare_translation(translation.question, exchange.question)
        )
        answer = self._prepare_translation(translation.answer, exchange.answer)
        documents = tuple(
            self._prepare_passage(passage, english.text, self._english)
            for passage, english in zip(exchange.context, translation.context, strict=True)
            if english.text.strip()
        )
        terms = self._terms(self._english)
        return PreparedExchange(question, self._without_courtesies(answer), documents, answer, terms)

    def _terms(self, lexicon: Lexicon) -> frozenset[str] | None:
        return self._company_terms.for_language(lexicon.language) if self._company_terms else None

    def _prepare_translation(self, english: TranslatedText, original: str) -> PreparedText:
        source = TranslationSource(original, english.segments)
        return PreparedText.of(english.text, self._english, parser=self._parser, source=source)

    def _without_courtesies(self, text: PreparedText) -> PreparedText:
        return text.part(*content_span(text.original, text.lexicon))

    def _prepare_passage(
        self, passage: Passage, text: str, lexicon: Lexicon, body_start: int | None = None
    ) -> PreparedPassage:
        prepared = self._documents.prepare(text, lexicon, persistent=passage.version is not None)
        return PreparedPassage(passage.document_id, prepared, passage.version, body_start, passage.offset)


def parse_exchange(exchange: PreparedExchange) -> None:
    """Parse the texts of a material together; what is parsed already is not parsed again."""
    documents = [document.text for document in exchange.context]
    texts = (exchange.whole_answer or exchange.answer, exchange.question, *documents)
    parse_together(text.whole_parse for text in texts)
