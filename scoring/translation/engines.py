"""deep-translator's translators: how each is made and addressed, and what it allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from deep_translator import (
    DeeplTranslator,
    GoogleTranslator,
    LibreTranslator,
    MyMemoryTranslator,
    deepl,
    google,
    libre,
    mymemory,
)
from deep_translator.constants import (
    DEEPL_LANGUAGE_TO_CODE,
    GOOGLE_LANGUAGES_TO_CODES,
    MY_MEMORY_LANGUAGES_TO_CODES,
)
from deep_translator.exceptions import TooManyRequests

from scoring.translation.http import Request, bounded

for _module in (deepl, google, libre, mymemory):
    _module.requests = bounded

ProviderName = Literal["libretranslate", "google", "deepl", "mymemory"]
Use = Literal["refused", "allowed", "needed"]

#: LibreTranslator refuses to be made without a key; where none is set, none is sent.
_NO_KEY = "none"
_GOOGLE_CODES = {"he": "iw", "jv": "jw", "nb": "no", "nn": "no", "zh": "zh-CN"}


@dataclass(frozen=True, slots=True)
class ProviderOptions:
    """Which translator, and how to reach it.

    ``base_url`` is the address of a LibreTranslate or DeepL server (DeepL has two of its own: with
    None the key tells which). ``timeout_seconds`` holds for one HTTP call; ``threads`` is
    how many calls there are at once.
    """

    name: ProviderName
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 5.0
    threads: int = 4


@dataclass(frozen=True, slots=True)
class Kind:
    """How one provider is made and addressed; ``code`` gives its code for an ISO 639-1 code.

    ``engine`` makes its translator of deep-translator, of which ``translate`` alone is used. ``url`` and
    ``key`` are those of the options.
    """

    engine: Callable[[ProviderOptions, str], Any]
    code: Callable[[str], str | None]
    longest: int
    adapt: Callable[[Request, ProviderOptions], Request] = lambda request, _: request
    keeps_lines: bool = True
    url: Use = "refused"
    key: Use = "refused"


def _libretranslate(options: ProviderOptions, code: str) -> Any:
    url = f"{(options.base_url or '').rstrip('/')}/"
    engine = LibreTranslator("auto", "en", options.api_key or _NO_KEY, custom_url=url)
    engine.source = code  # its own list of languages lacks Dutch, which the servers have
    return engine


def _without_placeholder(request: Request, options: ProviderOptions) -> Request:
    if options.api_key:
        return request
    return replace(request, form={name: value for name, value in request.form.items() if name != "api_key"})


def _deepl(options: ProviderOptions, code: str) -> Any:
    key = options.api_key or ""
    return DeeplTranslator(code, "en", key, use_free_api=key.endswith(":fx"))


def _as_deepl_asks(request: Request, options: ProviderOptions) -> Request:
    """Send the text in the body and the key in a header, as DeepL asks for today."""
    form = {name: value for name, value in request.params.items() if name != "auth_key"}
    url = f"{options.base_url.rstrip('/')}/v2/translate" if options.base_url else request.url
    return Request("POST", url, form=form, headers={"Authorization": f"DeepL-Auth-Key {options.api_key}"})


class _MyMemory(MyMemoryTranslator):  # type: ignore[misc]
    def translate(self, text: str) -> object:
        """Translate; raises TooManyRequests where the service says so in the place of a translation."""
        translated = super().translate(text)
        if str(translated).startswith("MYMEMORY WARNING"):
            raise TooManyRequests
        return translated


def _encrypted(request: Request, _: ProviderOptions) -> Request:
    return replace(request, url=request.url.replace("http://", "https://", 1))


def _deepl_code(language: str) -> str | None:
    return language if language in DEEPL_LANGUAGE_TO_CODE.values() else None


def _google_code(language: str) -> str | None:
    code = _GOOGLE_CODES.get(language, language)
    return code if code in GOOGLE_LANGUAGES_TO_CODES.values() else None


def _mymemory_code(language: str) -> str | None:
    codes = [code for code in MY_MEMORY_LANGUAGES_TO_CODES.values() if code.startswith(f"{language}-")]
    home = f"{language}-{language.upper()}"
    return home if home in codes else min(codes, default=None)


KINDS: Mapping[ProviderName, Kind] = {
    # Its codes are those of ISO 639-1; the server tells which it has.
    "libretranslate": Kind(
        _libretranslate, str, longest=4_500, adapt=_without_placeholder, url="needed", key="allowed"
    ),
    "deepl": Kind(_deepl, _deepl_code, longest=4_500, adapt=_as_deepl_asks, url="allowed", key="needed"),
    # deep-translator refuses 5,000 characters and more.
    "google": Kind(lambda _, code: GoogleTranslator(code, "en"), _google_code, longest=4_500),
    # It refuses 500 and more, and what the service does with several lines is not said anywhere.
    "mymemory": Kind(
        lambda _, code: _MyMemory(code, "en-GB"),
        _mymemory_code,
        longest=450,
        adapt=_encrypted,
        keeps_lines=False,
    ),
}
