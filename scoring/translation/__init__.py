"""Translating what is judged into English, over deep-translator: limited, cached, and never required."""

from scoring.translation.breaker import BreakerState
from scoring.translation.calls import Retries
from scoring.translation.engines import ProviderName, ProviderOptions
from scoring.translation.errors import Fault, TranslationFailed, TranslatorMisconfigured
from scoring.translation.observer import Observer, Unobserved
from scoring.translation.translator import ENGLISH, ExchangeTranslator, TranslatorOptions

__all__ = [
    "ENGLISH",
    "BreakerState",
    "ExchangeTranslator",
    "Fault",
    "Observer",
    "ProviderName",
    "ProviderOptions",
    "Retries",
    "TranslationFailed",
    "TranslatorMisconfigured",
    "TranslatorOptions",
    "Unobserved",
]
