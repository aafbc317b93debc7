"""Translates exchanges before they are judged; imported only where that is configured."""

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import structlog

from scoring.lexicon import load_lexicons
from scoring.text.language_detection import LanguageDetector
from scoring.translation.calls import Provider
from scoring.translation.engines import ProviderOptions
from scoring.translation.errors import TranslationFailed, TranslationObserver, TranslatorMisconfigured
from scoring.translation.translator import ENGLISH, ExchangeTranslator, TranslatorOptions
from scoring.values.exchange import Exchange, Translation
from scoring.values.rules import Reason
from streams.settings import InvalidSettings, Settings, TranslationSettings
from streams.translating.translation_stage import NOT_NEEDED, TranslationResult

log = structlog.get_logger(__name__)

_TRANSLATED = "translated"
_UNEXPECTED = "unexpected"
#: In the folder of ``documents.store``: only documents are in it, never questions and answers.
CACHE_FILE_NAME = "translations.sqlite3"
#: Concurrent calls. Calls that a stricter provider rejects are retried later.
_CONCURRENCY = 4
#: A translator that failed is tried again after this multiple of the timeout.
_RESET_TIMEOUTS = 3


class TranslateFirst:
    """The :class:`~streams.translating.translation_stage.TranslationStage` of all languages but English.

    An exchange without a known language or without context is not translated: it gets no score anyway.

    Args:
        translator: translates exchanges.
        languages: detects the language of an exchange.
        timeout_seconds: the longest that one exchange may take.
        observer: called with the outcome of each exchange: ``translated``, ``not_needed`` or the code of the
            fault, ``unexpected`` for a defect.
    """

    def __init__(
        self,
        translator: ExchangeTranslator,
        languages: LanguageDetector,
        timeout_seconds: float,
        observer: TranslationObserver,
    ) -> None:
        self._translator = translator
        self._languages = languages
        self._timeout_seconds = timeout_seconds
        self._observer = observer

    async def translate(self, exchange: Exchange, timeout_seconds: float) -> TranslationResult:
        """Return the exchange with its translation, or unchanged with a degraded code."""
        language = self._languages.detect_exchange(exchange)
        has_context = any(passage.text and not passage.text.isspace() for passage in exchange.context)
        if language in (None, ENGLISH) or not has_context:
            self._observer.exchange_finished(NOT_NEEDED, 0.0)
            return TranslationResult(exchange)
        assert language is not None
        now = asyncio.get_running_loop().time
        began = now()
        outcome = await self._translate(exchange, language, min(timeout_seconds, self._timeout_seconds))
        if isinstance(outcome, str):
            self._observer.exchange_finished(outcome, now() - began)
            return TranslationResult(exchange, (Reason.TRANSLATION_UNAVAILABLE,))
        self._observer.exchange_finished(_TRANSLATED, now() - began)
        return TranslationResult(replace(exchange, translation=outcome))

    async def _translate(
        self, exchange: Exchange, language: str, timeout_seconds: float
    ) -> Translation | str:
        """Return the translation, or the code of the fault."""
        try:
            return await self._translator.translate(exchange, language, timeout_seconds)
        except TranslationFailed as failure:
            return failure.fault.value
        except Exception as error:  # noqa: BLE001 - the answer is judged without the translation
            # Its text may quote the customer.
            log.error("translation_failed_unexpectedly", error_type=type(error).__name__)  # noqa: TRY400
            return _UNEXPECTED


@contextmanager
def open_translate_first(
    settings: Settings, timeout_seconds: float, observer: TranslationObserver
) -> Iterator[TranslateFirst]:
    """Open the translation of the settings; raises InvalidSettings if it cannot be opened."""
    # The scorer has the same lexicons: both must know the same languages.
    lexicons = load_lexicons(settings.scoring.lexicons)
    languages = LanguageDetector(lexicons.values())
    try:
        options = _options(
            settings.translation, settings.documents.store / CACHE_FILE_NAME, frozenset(lexicons)
        )
        translator = ExchangeTranslator(options, languages.detect, observer)
    except TranslatorMisconfigured as error:
        raise InvalidSettings(f"translation: {error}") from None
    with closing(translator):
        yield TranslateFirst(translator, languages, timeout_seconds, observer)


def check_translator(settings: TranslationSettings) -> None:
    """Check the settings of the provider without calling it; raises InvalidSettings."""
    try:
        Provider(_provider(settings))
    except TranslatorMisconfigured as error:
        raise InvalidSettings(f"translation: {error}") from None


def _provider(settings: TranslationSettings) -> ProviderOptions:
    assert settings.provider is not None  # callers check this
    key = settings.api_key.get_secret_value() if settings.api_key else None
    return ProviderOptions(
        settings.provider,
        settings.base_url or None,
        key or None,
        # This leaves time for a retry.
        settings.timeout_seconds / 2,
        _CONCURRENCY,
    )


def _options(settings: TranslationSettings, cache: Path, native: frozenset[str]) -> TranslatorOptions:
    return TranslatorOptions(
        _provider(settings),
        breaker_reset_seconds=_RESET_TIMEOUTS * settings.timeout_seconds,
        cache=cache,
        native=native,
    )
