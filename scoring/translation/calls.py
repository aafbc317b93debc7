"""Calls to a translation provider: batched, checked, retried, and guarded by a circuit breaker."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import httpx2
from deep_translator.exceptions import TooManyRequests, TranslationNotFound
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential
from tenacity.nap import sleep_using_event

from scoring.cache.call_guards import CircuitBreaker
from scoring.translation.checks import DetectLanguage, find_fault, is_untranslated, tidy
from scoring.translation.engines import PROVIDER_SPECS, BoundedHttpClient, ProviderOptions, ResponseTimeout
from scoring.translation.errors import (
    OUTAGES,
    RETRYABLE_FAULTS,
    TRANSIENT_FAULTS,
    TranslationFailed,
    TranslationFault,
    TranslationObserver,
    TranslatorMisconfigured,
)

#: 456 is DeepL's "quota exceeded"; any other status is a server error.
_FAULT_BY_STATUS = {
    **dict.fromkeys((400, 413, 414, 422), TranslationFault.REFUSED),
    **dict.fromkeys((401, 402, 403, 407, 456), TranslationFault.UNAUTHORIZED),
    429: TranslationFault.RATE_LIMITED,
}

#: Timeouts come first, since they are transport errors too.
_FAULT_BY_ERROR: tuple[tuple[type[Exception] | tuple[type[Exception], ...], TranslationFault], ...] = (
    ((ResponseTimeout, httpx2.TimeoutException), TranslationFault.TIMEOUT),
    ((httpx2.TransportError, httpx2.InvalidURL), TranslationFault.UNREACHABLE),
    (TranslationNotFound, TranslationFault.EMPTY),
    (TooManyRequests, TranslationFault.RATE_LIMITED),
)


class Provider:
    """Translates one text with a timeout, blocking.

    Attributes:
        identity: the cache key of its translations.
        max_characters: the maximum length of a text.
        preserves_lines: whether each line of a text is translated to one line.
    """

    def __init__(self, options: ProviderOptions) -> None:
        """Create the provider of the options; raises TranslatorMisconfigured."""
        spec = PROVIDER_SPECS[options.name]
        for value, use, setting in (
            (options.base_url, spec.url, "base_url"),
            (options.api_key, spec.key, "api_key"),
        ):
            if use == "needed" and not value:
                raise TranslatorMisconfigured(f"provider {options.name} needs {setting}")
            if use == "refused" and value:
                raise TranslatorMisconfigured(f"provider {options.name} takes no {setting}")
        self.identity = f"{options.name} {options.base_url or ''}"
        self.max_characters, self.preserves_lines = spec.max_characters, spec.preserves_lines
        self._spec = spec
        self._options = options
        self._http = BoundedHttpClient(options.timeout_seconds, options.threads)

    def translate(self, text: str, source: str) -> str:
        """Translate a text from the language ``source`` (ISO 639-1) into English.

        Raises:
            TranslationFailed: on every failure, with nothing of the text in it.
        """
        if (code := self._spec.language_code(source)) is None:
            raise TranslationFailed(TranslationFault.UNSUPPORTED_LANGUAGE)
        outcome = self._attempt(text, code)
        # Raised outside of the except clause, whose exception may contain the text.
        if isinstance(outcome, TranslationFault):
            raise TranslationFailed(outcome)
        return outcome

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _attempt(self, text: str, code: str) -> str | TranslationFault:
        try:
            translated = self._spec.engine(self._options, code, self._http).translate(text)
        except Exception as error:  # noqa: BLE001 - libraries raise anything, possibly with the text
            return _fault_from_error(error)
        if translated is None or translated == "":
            return TranslationFault.EMPTY
        return translated if isinstance(translated, str) else TranslationFault.SERVER_ERROR


def _fault_from_error(error: Exception) -> TranslationFault:
    if isinstance(error, httpx2.HTTPStatusError):
        return _FAULT_BY_STATUS.get(error.response.status_code, TranslationFault.SERVER_ERROR)
    # Anything else is an invalid response.
    faults = (fault for types, fault in _FAULT_BY_ERROR if isinstance(error, types))
    return next(faults, TranslationFault.SERVER_ERROR)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The number of ``attempts`` in all, and the random waits in seconds between them.

    Waits grow exponentially from ``first_wait`` up to ``longest_wait``.
    """

    attempts: int = 3
    first_wait: float = 0.2
    longest_wait: float = 2.0


@dataclass(frozen=True, eq=False)
class BatchTranslator:
    """Translates batches of sentences by one provider, blocking. Thread-safe.

    Args:
        provider: the provider.
        breaker: guards and observes every call.
        retries: the retry policy.
        detect_language: returns a text's language code or None, to detect untranslated text.
        observer: observes every call.
    """

    provider: Provider
    breaker: CircuitBreaker
    retries: RetryPolicy
    detect_language: DetectLanguage
    observer: TranslationObserver
    _closing: threading.Event = field(default_factory=threading.Event, init=False)

    def stop(self) -> None:
        """Start no further calls, and stop retrying."""
        self._closing.set()

    def close(self) -> None:
        """Close the connections, which no call may use any more."""
        self.provider.close()

    def batches(self, sentences: Sequence[str], max_characters: int) -> Iterator[tuple[str, ...]]:
        """Group sentences into batches for one call, of at most ``max_characters`` each."""
        batch: list[str] = []
        size = 0
        for sentence in sentences:
            is_full = not self.provider.preserves_lines or size + len(sentence) >= max_characters
            if batch and is_full:
                yield tuple(batch)
                batch, size = [], 0
            batch.append(sentence)
            size += len(sentence) + 1
        if batch:
            yield tuple(batch)

    def translate(self, batch: Sequence[str], source: str) -> Mapping[str, str]:
        """Translate a batch of sentences from the language ``source`` (ISO 639-1) into English.

        They are sent as the lines of one text. If the lines do not return as plausible translations, each
        sentence is sent by itself.

        Raises:
            TranslationFailed: a sentence failed, so the batch has no result.
        """
        translations = self._translate_lines(batch, source) if len(batch) > 1 else None
        if translations is None:
            translations = {}
            for sentence in batch:
                translations[sentence] = tidy(self._call(sentence, source))
                if fault := find_fault(sentence, translations[sentence]):
                    raise TranslationFailed(fault)
        texts = " ".join(translations), " ".join(translations.values())
        if is_untranslated(*texts, source, self.detect_language):
            raise TranslationFailed(TranslationFault.NOT_ENGLISH)
        return translations

    def _translate_lines(self, batch: Sequence[str], source: str) -> Mapping[str, str] | None:
        try:
            lines = self._call("\n".join(batch), source).strip().split("\n")
        except TranslationFailed as failure:
            if failure.fault in TRANSIENT_FAULTS:
                raise
            return None  # one refused sentence must not fail the others
        if len(lines) != len(batch):
            return None
        translations = {sentence: tidy(line) for sentence, line in zip(batch, lines, strict=True)}
        return None if any(find_fault(*pair) for pair in translations.items()) else translations

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
            is_outage = failure.fault in OUTAGES
            (self.breaker.record_failure if is_outage else self.breaker.record_success)()
            raise
        self.observer.call_finished("translated", time.monotonic() - began)
        self.breaker.record_success()
        return translation
