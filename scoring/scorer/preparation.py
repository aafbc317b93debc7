"""Prepares the texts of an exchange, in the original and in English translation."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from scoring.company_terms import WatchedTermsFile
from scoring.lexicon import Lexicon, PhraseList
from scoring.text.characters import SENTENCE_OR_LINE_END, ends_with_stop
from scoring.text.parsing import LazyParse, Parser
from scoring.text.prepared_text import (
    PreparedExchange,
    PreparedPassage,
    PreparedText,
    TextCache,
    TranslationSource,
    split_words,
)
from scoring.values.exchange import Exchange, Passage, TranslatedText
from scoring.values.scored_answer import CacheUse


@dataclass(frozen=True, slots=True)
class BilingualExchange:
    """An exchange in the original and in English; the same twice where there is only one."""

    original: PreparedExchange
    english: PreparedExchange


class ExchangePreparer:
    """Prepares exchanges; documents are cached.

    Every document is cached in memory. Only documents from the store, whose passages have a version, are
    cached in a file: a passage that came with its answer may quote the customer.

    Args:
        parser: parses every text.
        english: the lexicon for translations.
        company_terms: the company's terms by language, if known.
        documents: the cache of documents.
    """

    def __init__(
        self, parser: Parser, english: Lexicon, company_terms: WatchedTermsFile | None, documents: TextCache
    ) -> None:
        self._parser = parser
        self._english = english
        self._company_terms = company_terms
        self._documents = documents

    @property
    def cache_use(self) -> CacheUse:
        """Cache hits and misses of documents since the start."""
        documents = self._documents
        return CacheUse(documents.hits, documents.misses, documents.disk_hits)

    def prepare_question(self, exchange: Exchange, lexicon: Lexicon | None) -> PreparedText | None:
        """Prepare the question's content by the lexicon of its language, else its translation, else None."""
        if lexicon is not None:
            question = PreparedText.of(exchange.question, lexicon, parser=self._parser)
        elif exchange.translation is not None:
            question = self._prepare_translation(exchange.translation.question, exchange.question)
        else:
            return None
        return _content(question)

    def prepare_answer(self, exchange: Exchange, question: PreparedText) -> PreparedText:
        """Prepare the answer's content in the same language as the question."""
        if question.source is not None and exchange.translation is not None:
            return _content(self._prepare_translation(exchange.translation.answer, exchange.answer))
        return _content(PreparedText.of(exchange.answer, question.lexicon, parser=self._parser))

    def prepare_exchange(
        self, exchange: Exchange, question: PreparedText, context: Iterable[Passage]
    ) -> BilingualExchange:
        """Prepare an exchange; ``context`` are its non-blank passages.

        Raises ValueError where the translation has other passages than the exchange.
        """
        original = None
        if not question.source:
            answer = PreparedText.of(exchange.answer, question.lexicon, parser=self._parser)
            documents = tuple(
                self._prepare_passage(
                    passage,
                    passage.text_with_title,
                    question.lexicon,
                    len(passage.text_with_title) - len(passage.text),
                )
                for passage in context
            )
            original = self._exchange(question, answer, documents)
        english = self._english_exchange(exchange) if exchange.translation else original
        assert english is not None  # a question without a source has its own lexicon
        return BilingualExchange(original or english, english)

    def _english_exchange(self, exchange: Exchange) -> PreparedExchange:
        translation = exchange.translation
        assert translation is not None
        question = _content(self._prepare_translation(translation.question, exchange.question))
        answer = self._prepare_translation(translation.answer, exchange.answer)
        documents = tuple(
            self._prepare_passage(passage, english.text, self._english)
            for passage, english in zip(exchange.context, translation.context, strict=True)
            if english.text.strip()
        )
        return self._exchange(question, answer, documents)

    def _exchange(
        self, question: PreparedText, answer: PreparedText, documents: tuple[PreparedPassage, ...]
    ) -> PreparedExchange:
        language = answer.lexicon.language
        terms = self._company_terms.for_language(language) if self._company_terms else None
        return PreparedExchange(question, _content(answer), documents, answer, terms)

    def _prepare_translation(self, english: TranslatedText, original: str) -> PreparedText:
        source = TranslationSource(original, english.segments)
        return PreparedText.of(english.text, self._english, parser=self._parser, source=source)

    def _prepare_passage(
        self, passage: Passage, text: str, lexicon: Lexicon, body_start: int | None = None
    ) -> PreparedPassage:
        prepared = self._documents.prepare(text, lexicon, persistent=passage.version is not None)
        return PreparedPassage(passage.document_id, prepared, passage.version, body_start, passage.offset)


def _content(text: PreparedText) -> PreparedText:
    """Return a text without its greeting and closings."""
    return text.part(*content_span(text.original, text.lexicon))


def unparsed_texts(exchange: PreparedExchange) -> list[LazyParse]:
    """Return the parses that an exchange needs and that are not made yet."""
    documents = [document.text for document in exchange.context]
    texts = (exchange.whole_answer or exchange.answer, exchange.question, *documents)
    return [text.whole_parse for text in texts if text.whole_parse.parse is None]


# A greeting is a greeting phrase and perhaps a name: "Goedemorgen Jan,".
_MAX_GREETING_WORDS = 4
# Longer sentences have content even where they start like a closing.
_MAX_CLOSING_WORDS = 25
_MAX_SIGNATURE_WORDS = 4
# Content (possibly empty), closing and signature.
_MIN_SIGNED_BOUNDS = 3
_GREETING_END = re.compile(rf"{SENTENCE_OR_LINE_END.pattern}|,(?=\s|$)")


def content_span(text: str, lexicon: Lexicon) -> tuple[int, int]:
    """Return the span (start, end) of a text without its opening greeting and its closings.

    A text of only a greeting and a closing has an empty span.
    """
    start, indent = 0, len(text) - len(text.lstrip())
    match = _GREETING_END.search(text, indent)
    greeting_end = match.end() if match else len(text)
    if _starts_with(lexicon.greetings, text[:greeting_end], _MAX_GREETING_WORDS):
        start = len(text) - len(text[greeting_end:].lstrip())
    bounds = [start, *(match.end() for match in SENTENCE_OR_LINE_END.finditer(text, start))]
    if len(bounds) == 1 or text[bounds[-1] :].strip():
        bounds.append(len(text))
    if _is_signed(text, bounds, lexicon.closings):
        bounds.pop()
    while len(bounds) > 1 and _starts_with(
        lexicon.closings, text[bounds[-2] : bounds[-1]], _MAX_CLOSING_WORDS
    ):
        bounds.pop()
    return start, bounds[-1]


def _is_signed(text: str, bounds: list[int], closings: PhraseList) -> bool:
    """Return whether a text ends with a signature: a few words on a line below "Kind regards,"."""
    if len(bounds) < _MIN_SIGNED_BOUNDS:
        return False
    closing, signature = text[bounds[-3] : bounds[-2]], text[bounds[-2] : bounds[-1]]
    return (
        closing.endswith("\n")
        and not ends_with_stop(closing)
        and bool(split_words(closing))
        and _starts_with(closings, closing, _MAX_GREETING_WORDS)
        and len(split_words(signature)) <= _MAX_SIGNATURE_WORDS
    )


def _starts_with(phrases: PhraseList, sentence: str, max_words: int) -> bool:
    """Return whether a sentence of at most so many words starts with a phrase, or has no words."""
    words = [word.text for word in split_words(sentence)]
    return len(words) <= max_words and (not words or any(first == 0 for first, _ in phrases.find(words)))
