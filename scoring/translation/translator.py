"""The translator of an exchange into English: question, answer and documents (paper, section VI-A)."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from scoring.cache.circuit_breaker import CircuitBreaker
from scoring.cache.single_flight import SingleFlight
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
#: No help page or answer is that long; translating it would take all there is of a translator.
_MAX_CHARACTERS = 100_000
#: About 2,000 documents in memory; the rest is on disk.
_RECENT_CHARACTERS = 4_000_000
_RETRY_NONSENSE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class TranslatorOptions:
    """How an exchange is translated.

    ``batch_characters`` go to the provider in one call, about. The breaker opens after
    ``breaker_failures`` failed calls in a row, and stays so for ``breaker_reset_seconds``. Documents
    are kept at ``cache``, in about ``cache_mib`` MiB (None: not on disk). ``native`` are the
    languages that can also be judged as they come.
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

    Documents are translated once per content and kept; questions and answers are not, since they
    may hold personal data. Calls run in ``provider.threads`` threads. A call that nobody waits for
    any longer ends by its own time limit, and what it brings of a document is kept.

    Args:
        options: whom to ask, and the limits.
        identify: gives the language code of a text, or None where it is not known; thread-safe.
        observer: hears what happens.

    Raises:
        TranslatorMisconfigured: the provider or the cache cannot be made.
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
        self._recent = RecentTranslations(_RECENT_CHARACTERS, _RETRY_NONSENSE_SECONDS)

    def close(self) -> None:
        """Begin no further call, try none again, and close what is open."""
        self._calls.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._cache:
            self._cache.close()

    async def translate(self, exchange: Exchange, language: str, timeout_seconds: float) -> Translation:
        """Translate an exchange that is in ``language`` (a code of ISO 639-1), within ``seconds``.

        The text of a passage begins with its title and an empty line, where it has a title.

        Raises:
            TranslationFailed: of any part of it, or of all in that time.
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
            return _untranslated(text)
        if (found := self._recent.get(language, text)) is not None:
            self._observer.cache_looked_up(len(found.segments), 0)
            return found
        return await self._documents.run(
            (language, text), lambda: self._document(passage.document_id, text, language)
        )

    async def _document(self, document_id: str, text: str, language: str) -> TranslatedText:
        try:
            translated = await self._text(text, language, keep=True)
        except TranslationFailed as failure:
            self._recent.put(language, text, failure.fault)
            if failure.fault not in TRANSIENT_FAULTS:
                self._observer.document_failed(document_id, failure.fault)
            raise
        self._recent.put(language, text, translated)
        return translated

    async def _text(self, text: str, language: str, *, keep: bool = False) -> TranslatedText:
        if len(text) > _MAX_CHARACTERS:
            raise TranslationFailed(TranslationFault.TOO_LONG)
        parts = tuple(split_sentences(text, self._max_characters))
        sentences = [text[part.start : part.end] for part in parts]
        known = await self._sentences(tuple(dict.fromkeys(sentences)), language, keep)
        translated = assemble(text, parts, [known[sentence] for sentence in sentences])
        # Where features are measured on the translation alone, components must still be marked in it.
        if language not in self._options.native and not preserves_bold(text, translated.text):
            raise TranslationFailed(TranslationFault.MARKS_LOST)
        return translated

    async def _sentences(self, sentences: Sequence[str], language: str, keep: bool) -> Mapping[str, str]:
        known = self._cache.find(sentences, language) if keep and self._cache else {}
        missing = [sentence for sentence in sentences if sentence not in known]
        if keep:
            self._observer.cache_looked_up(len(known), len(missing))
        if missing and self._breaker.is_rejecting:
            raise TranslationFailed(TranslationFault.BREAKER_OPEN)
        batches = self._calls.batches(missing, self._options.batch_characters)
        for found in await _gather([self._in_thread(batch, language, keep) for batch in batches]):
            known.update(found)
        return known

    async def _in_thread(self, batch: Sequence[str], language: str, keep: bool) -> Mapping[str, str]:
        return await asyncio.wrap_future(self._threads.submit(self._translate_batch, batch, language, keep))

    def _translate_batch(self, batch: Sequence[str], language: str, keep: bool) -> Mapping[str, str]:
        found = self._calls.translate(batch, language)
        if keep and self._cache:
            self._cache.put({sentence: found[sentence] for sentence in batch}, language)
        return found


def _untranslated(text: str) -> TranslatedText:
    whole = (Segment(0, len(text), 0, len(text)),) if text else ()
    return TranslatedText(text, whole)


async def _gather(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Do all of the works at once; the first that fails ends the others, and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except BaseExceptionGroup as failures:
        first = failures.exceptions[0]
    else:
        return [task.result() for task in tasks]
    raise first
