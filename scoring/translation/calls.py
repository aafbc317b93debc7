"""Calls to a translator: few, within its limits, retried for a while, and none while it is down."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import httpx2
from deep_translator.exceptions import TooManyRequests, TranslationNotFound
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential
from tenacity.nap import sleep_using_event

from scoring.cache.circuit_breaker import CircuitBreaker
from scoring.translation.checks import DetectLanguage, find_fault, is_untranslated, tidy
from scoring.translation.engines import PROVIDER_SPECS, ProviderOptions
from scoring.translation.errors import (
    OUTAGES,
    RETRYABLE_FAULTS,
    TRANSIENT_FAULTS,
    TranslationFailed,
    TranslationFault,
    TranslationObserver,
    TranslatorMisconfigured,
)
from scoring.translation.http import BoundedHttpClient, ResponseTimeout

#: 456 is DeepL's "quota exceeded"; every other status is a fault of the server.
_FAULT_BY_STATUS = {
    **dict.fromkeys((400, 413, 414, 422), TranslationFault.REFUSED),
    **dict.fromkeys((401, 402, 403, 407, 456), TranslationFault.UNAUTHORIZED),
    429: TranslationFault.RATE_LIMITED,
}

#: In this order: timeouts are transport errors too.
_FAULT_BY_ERROR: tuple[tuple[type[Exception] | tuple[type[Exception], ...], TranslationFault], ...] = (
    ((ResponseTimeout, httpx2.TimeoutException), TranslationFault.TIMEOUT),
    ((httpx2.TransportError, httpx2.InvalidURL), TranslationFault.UNREACHABLE),
    (TranslationNotFound, TranslationFault.EMPTY),
    (TooManyRequests, TranslationFault.RATE_LIMITED),
)


class Provider:
    """Translates one text, blocking, within a bounded time.

    Attributes:
        identity: what tells its translations from another's: they are cached under this.
        longest: how many characters one call may have.
        keeps_lines: whether the lines of a text are translated each to one line.
    """

    def __init__(self, options: ProviderOptions) -> None:
        """Make the provider that the options name; raises TranslatorMisconfigured."""
        kind = PROVIDER_SPECS[options.name]
        for given, use, what in (
            (options.base_url, kind.url, "base_url"),
            (options.api_key, kind.key, "api_key"),
        ):
            if use == "needed" and not given:
                raise TranslatorMisconfigured(f"provider {options.name} needs {what}")
            if use == "refused" and given:
                raise TranslatorMisconfigured(f"provider {options.name} takes no {what}")
        self.identity = f"{options.name} {options.base_url or ''}"
        self.max_characters, self.preserves_lines = kind.max_characters, kind.preserves_lines
        self._spec = kind
        self._options = options
        self._http = BoundedHttpClient(options.timeout_seconds, options.threads)

    def translate(self, text: str, source: str) -> str:
        """Translate ``text`` from the language of code ``source`` into English.

        Raises:
            TranslationFailed: in every case of failure, and with nothing of the text in it.
        """
        if (code := self._spec.language_code(source)) is None:
            raise TranslationFailed(TranslationFault.UNSUPPORTED_LANGUAGE)
        outcome = self._attempt(text, code)
        # Raised here and not where it was caught: what was caught there may hold the text.
        if isinstance(outcome, TranslationFault):
            raise TranslationFailed(outcome)
        return outcome

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _attempt(self, text: str, code: str) -> str | TranslationFault:
        try:
            translated = self._spec.engine(self._options, code, self._http).translate(text)
        except Exception as error:  # noqa: BLE001 - libraries raise what they like, texts in it
            return _fault_from_error(error)
        if translated is None or translated == "":
            return TranslationFault.EMPTY
        return translated if isinstance(translated, str) else TranslationFault.SERVER_ERROR


def _fault_from_error(error: Exception) -> TranslationFault:
    if isinstance(error, httpx2.HTTPStatusError):
        return _FAULT_BY_STATUS.get(error.response.status_code, TranslationFault.SERVER_ERROR)
    # Anything else is an answer that this provider does not give.
    return next(
        (fault for types, fault in _FAULT_BY_ERROR if isinstance(error, types)), TranslationFault.SERVER_ERROR
    )


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is tried: ``attempts`` in all, after random waits that grow from ``first_wait``.

    The waits double at most, and never exceed ``longest_wait``; both are in seconds.
    """

    attempts: int = 3
    first_wait: float = 0.2
    longest_wait: float = 2.0


@dataclass(frozen=True, eq=False)
class BatchTranslator:
    """Translates sentences through one provider; blocks, and may be used by several threads.

    Args:
        provider: whom to ask.
        breaker: hears of every call, and refuses them while the provider is down.
        retries: how often to try.
        identify: gives the language code of a text, or None; to notice what was not translated.
        observer: hears of every call.
    """

    provider: Provider
    breaker: CircuitBreaker
    retries: RetryPolicy
    detect_language: DetectLanguage
    observer: TranslationObserver
    _closing: threading.Event = field(default_factory=threading.Event, init=False)

    def close(self) -> None:
        """Have no call tried again, and close the connections."""
        self._closing.set()
        self.provider.close()

    def batches(self, sentences: Sequence[str], max_characters: int) -> Iterator[tuple[str, ...]]:
        """Put sentences together so that one call can translate them: at most ``characters`` each."""
        if not self.provider.preserves_lines:
            yield from ((sentence,) for sentence in sentences)
            return
        batch: list[str] = []
        size = 0
        for sentence in sentences:
            if batch and size + len(sentence) >= max_characters:
                yield tuple(batch)
                batch, size = [], 0
            batch.append(sentence)
            size += len(sentence) + 1
        if batch:
            yield tuple(batch)

    def translate(self, batch: Sequence[str], source: str) -> Mapping[str, str]:
        """Translate the sentences of a batch from the language of code ``source`` into English.

        They go as the lines of one text. Where they do not come back line by line, each a plausible
        translation, each goes by itself.

        Raises:
            TranslationFailed: of a sentence; then there is none of the batch.
        """
        found = self._translate_lines(batch, source) if len(batch) > 1 else None
        found = found or {sentence: self._translate_sentence(sentence, source) for sentence in batch}
        if is_untranslated(" ".join(found), " ".join(found.values()), source, self.detect_language):
            raise TranslationFailed(TranslationFault.NOT_ENGLISH)
        return found

    def _translate_lines(self, batch: Sequence[str], source: str) -> Mapping[str, str] | None:
        try:
            lines = self._call("\n".join(batch), source).strip().split("\n")
        except TranslationFailed as failure:
            if failure.fault in TRANSIENT_FAULTS:
                raise
            return None  # one sentence that is refused must not take the others with it
        if len(lines) != len(batch):
            return None
        found = {sentence: tidy(line) for sentence, line in zip(batch, lines, strict=True)}
        return None if any(find_fault(*pair) for pair in found.items()) else found

    def _translate_sentence(self, sentence: str, source: str) -> str:
        translation = tidy(self._call(sentence, source))
        if fault := find_fault(sentence, translation):
            raise TranslationFailed(fault)
        return translation

    def _call(self, text: str, source: str) -> str:
        retrying = Retrying(
            stop=stop_after_attempt(self.retries.attempts),
            wait=wait_random_exponential(self.retries.first_wait, self.retries.longest_wait),
            retry=retry_if_exception(self._is_retryable),
            sleep=sleep_using_event(self._closing),
            reraise=True,
        )
        return retrying(self._attempt, text, source)

    def _is_retryable(self, error: BaseException) -> bool:
        return (
            isinstance(error, TranslationFailed)
            and error.fault in RETRYABLE_FAULTS
            and not self._closing.is_set()
        )

    def _attempt(self, text: str, source: str) -> str:
        if self._closing.is_set() or not self.breaker.allow_call():
            raise TranslationFailed(TranslationFault.BREAKER_OPEN)
        began = time.monotonic()
        try:
            translation = self.provider.translate(text, source)
        except TranslationFailed as failure:
            self.observer.call_finished(failure.fault.value, time.monotonic() - began)
            if failure.fault in OUTAGES:
                self.breaker.record_failure()
            else:
                self.breaker.record_success()
            raise
        self.observer.call_finished("translated", time.monotonic() - began)
        self.breaker.record_success()
        return translation
