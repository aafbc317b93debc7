"""Translates exchanges into English: question, answer and documents (paper, section VI-A)."""

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from scoring.cache.call_guards import CircuitBreaker, SingleFlight
from scoring.translation.cached import RecentTranslations, TranslationCache
from scoring.translation.calls import BatchTranslator, Provider, RetryPolicy
from scoring.translation.checks import DetectLanguage, preserves_bold
from scoring.translation.engines import ProviderOptions
from scoring.translation.errors import (
    TRANSIENT_FAULTS,
    TranslationFailed,
    TranslationFault,
    TranslationObserver,
)
from scoring.translation.splitting import assemble, split_sentences
from scoring.values.exchange import Exchange, Passage, Segment, TranslatedText, Translation

T = TypeVar("T")

ENGLISH = "en"
#: No help page or answer is longer; translating it would occupy the translator.
_MAX_CHARACTERS = 100_000
#: About 2,000 documents in memory; the rest is on disk.
_MAX_RECENT_CHARACTERS = 4_000_000
_RETRY_FAULT_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class TranslatorOptions:
    """Options of an exchange translator.

    ``batch_characters``: the approximate size of a call. The circuit breaker opens after ``breaker_failures``
    consecutive failures, for ``breaker_reset_seconds``. ``cache``: a file for documents, if any, bounded by
    ``cache_mib``. ``native``: the languages that can be scored without translation.
    """

    provider: ProviderOptions
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    batch_characters: int = 1_000
    breaker_failures: int = 5
    breaker_reset_seconds: float = 30.0
    cache: Path | None = None
    cache_mib: int = 256
    native: frozenset[str] = frozenset()


class ExchangeTranslator:
    """Translates exchanges into English. Its methods belong to one event loop; :meth:`close` it.

    Documents are translated once per content and cached; questions and answers are not cached, since they may
    contain personal data. Calls run in ``provider.threads`` threads. A call whose waiters are gone ends by
    its own timeout, and its document is cached.

    Args:
        options: the provider and its limits.
        detect_language: returns a text's language code or None; thread-safe.
        observer: observes calls and caches.

    Raises:
        TranslatorMisconfigured: the provider or the cache cannot be created.
    """

    def __init__(
        self, options: TranslatorOptions, detect_language: DetectLanguage, observer: TranslationObserver
    ) -> None:
        self._options = options
        self._detect_language = detect_language
        self._observer = observer
        provider = Provider(options.provider)
        self._max_characters = min(provider.max_characters, options.batch_characters)
        self._cache: TranslationCache | None = None
        if options.cache is not None:
            self._cache = TranslationCache(
                options.cache, options.cache_mib, provider.identity, observer.cache_failed
            )
        self._breaker = CircuitBreaker(
            options.breaker_failures, options.breaker_reset_seconds, observer.breaker_changed
        )
        self._calls = BatchTranslator(provider, self._breaker, options.retries, detect_language, observer)
        self._threads = ThreadPoolExecutor(options.provider.threads, "translation")
        self._documents = SingleFlight[TranslatedText]()
        self._recent = RecentTranslations(_MAX_RECENT_CHARACTERS, _RETRY_FAULT_SECONDS)

    def close(self) -> None:
        """Start no further calls and stop retrying; connections are closed when the last call has ended."""
        self._calls.stop()
        # A call that connects while its client is closed would leave its connection open.
        threading.Thread(target=self._close_connections, name="translation-close", daemon=True).start()
        if self._cache:
            self._cache.close()

    def _close_connections(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._calls.close()

    async def translate(self, exchange: Exchange, language: str, timeout_seconds: float) -> Translation:
        """Translate an exchange from ``language`` (ISO 639-1) within a timeout.

        The text of a passage starts with its title, if any, and an empty line.

        Raises:
            TranslationFailed: a part failed, or all together exceeded the timeout.
        """
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._exchange(exchange, language)
        except TimeoutError:
            if timeout_seconds >= self._options.provider.timeout_seconds:
                self._breaker.record_timeout(timeout_seconds)
            raise TranslationFailed(TranslationFault.TIMEOUT) from None

    async def _exchange(self, exchange: Exchange, language: str) -> Translation:
        passages = [self._passage(passage, language) for passage in exchange.context]
        question, answer, *context = await _gather(
            (self._text(exchange.question, language), self._text(exchange.answer, language), *passages)
        )
        return Translation(question, answer, tuple(context))

    async def _passage(self, passage: Passage, language: str) -> TranslatedText:
        text = passage.text_with_title
        if self._detect_language(passage.text) == ENGLISH:
            segments = (Segment(0, len(text), 0, len(text)),) if text else ()
            return TranslatedText(text, segments)
        if (recent := self._recent.get(language, text)) is not None:
            self._observer.cache_looked_up(len(recent.segments), 0)
            return recent
        return await self._documents.run(
            (language, text), lambda: self._document(passage.document_id, text, language)
        )

    async def _document(self, document_id: str, text: str, language: str) -> TranslatedText:
        try:
            translated = await self._text(text, language, is_cached=True)
        except TranslationFailed as failure:
            self._recent.put(language, text, failure.fault)
            if failure.fault not in TRANSIENT_FAULTS:
                self._observer.document_failed(document_id, failure.fault)
            raise
        self._recent.put(language, text, translated)
        return translated

    async def _text(self, text: str, language: str, *, is_cached: bool = False) -> TranslatedText:
        if len(text) > _MAX_CHARACTERS:
            raise TranslationFailed(TranslationFault.TOO_LONG)
        spans = tuple(split_sentences(text, self._max_characters))
        sentences = [text[start:end] for start, end in spans]
        translations = await self._sentences(tuple(dict.fromkeys(sentences)), language, is_cached)
        translated = assemble(text, spans, [translations[sentence] for sentence in sentences])
        # Where features measure only the translation, components must still be marked in it.
        if language not in self._options.native and not preserves_bold(text, translated.text):
            raise TranslationFailed(TranslationFault.MARKS_LOST)
        return translated

    async def _sentences(self, sentences: Sequence[str], language: str, is_cached: bool) -> Mapping[str, str]:
        translations = self._cache.find(sentences, language) if is_cached and self._cache else {}
        missing = [sentence for sentence in sentences if sentence not in translations]
        if is_cached:
            self._observer.cache_looked_up(len(translations), len(missing))
        if missing and self._breaker.is_rejecting:
            raise TranslationFailed(TranslationFault.BREAKER_OPEN)
        batches = self._calls.batches(missing, self._options.batch_characters)
        for batch in await _gather([self._in_thread(each, language, is_cached) for each in batches]):
            translations.update(batch)
        return translations

    async def _in_thread(self, batch: Sequence[str], language: str, is_cached: bool) -> Mapping[str, str]:
        call = self._threads.submit(self._translate_batch, batch, language, is_cached)
        return await asyncio.wrap_future(call)

    def _translate_batch(self, batch: Sequence[str], language: str, is_cached: bool) -> Mapping[str, str]:
        translations = self._calls.translate(batch, language)
        if is_cached and self._cache:
            self._cache.put(translations, language)
        return translations


async def _gather(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines concurrently; the first failure cancels the others and is raised."""
    # Not a task group: one that fails can leave a request to cancel with the task that waits for it, and to
    # Python 3.11.2 the next timeout of that task, whoever set it, is then a cancellation.
    tasks = [asyncio.ensure_future(each) for each in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
