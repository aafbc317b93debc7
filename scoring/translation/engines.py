"""deep-translator's engines: how each is created and addressed, its limits, and the HTTP client.

Each is a subclass that sends by our own HTTP client: the originals wait without limit, and put texts
(LibreTranslate, DeepL) and keys into the query string, which proxies and access logs keep.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

import httpx2
from bs4 import BeautifulSoup
from deep_translator import DeeplTranslator, GoogleTranslator, LibreTranslator, MyMemoryTranslator
from deep_translator.constants import (
    BASE_URLS,
    DEEPL_LANGUAGE_TO_CODE,
    GOOGLE_LANGUAGES_TO_CODES,
    MY_MEMORY_LANGUAGES_TO_CODES,
)
from deep_translator.exceptions import TooManyRequests, TranslationNotFound

#: No translation of one call is longer, but a broken server may send anything.
_MAX_BYTES = 4_000_000

# It logs addresses, which contain the text for some providers.
logging.getLogger("httpx2").setLevel(logging.WARNING)


class ResponseTimeout(Exception):
    """The response exceeded its timeout."""


class ResponseTooLarge(Exception):
    """The response is larger than any translation."""


class BoundedHttpClient:
    """Sends requests with a timeout in seconds for connecting, and again for the whole response.

    Name resolution has the limits of the operating system. Connections are kept for ``threads`` threads.
    Redirects are not followed: they would send a text to an unknown address. Proxies come from the
    environment.
    """

    def __init__(self, timeout: float, threads: int) -> None:
        self._timeout = timeout
        self._client = httpx2.Client(
            headers={"accept-encoding": "identity"},  # so that sizes are what they seem
            timeout=timeout,
            limits=httpx2.Limits(max_connections=threads, max_keepalive_connections=threads),
            follow_redirects=False,
        )

    def get(self, url: str, params: Mapping[str, str]) -> bytes:
        """Return the response's body; raises as :meth:`post` does."""
        return self._body(self._client.build_request("GET", url, params=params))

    def post(self, url: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None) -> bytes:
        """Return the response's body.

        Raises:
            ResponseTimeout: the response exceeded its timeout.
            ResponseTooLarge: the response is too large.
            httpx2.HTTPError: the request failed.
            httpx2.InvalidURL: the address is invalid.
        """
        return self._body(self._client.build_request("POST", url, data=form, headers=headers))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _body(self, request: httpx2.Request) -> bytes:
        deadline = time.monotonic() + self._timeout
        body = bytearray()
        response = self._client.send(request, stream=True)
        try:
            for chunk in response.raise_for_status().iter_raw():
                body += chunk
                if len(body) > _MAX_BYTES:
                    raise ResponseTooLarge
                if time.monotonic() > deadline:
                    raise ResponseTimeout
        finally:
            response.close()
        return bytes(body)


ProviderName = Literal["libretranslate", "google", "deepl", "mymemory"]
Use = Literal["refused", "allowed", "needed"]

_GOOGLE_CODES = {"he": "iw", "jv": "jw", "nb": "no", "nn": "no", "zh": "zh-CN"}


@dataclass(frozen=True, slots=True)
class ProviderOptions:
    """A translation provider, and how to reach it.

    ``base_url``: the address of a LibreTranslate or DeepL server; None uses one of DeepL's two by the key.
    ``timeout_seconds``: for one HTTP call; ``threads``: the number of concurrent calls.
    """

    name: ProviderName
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 5.0
    threads: int = 4


class Engine(Protocol):
    """The part of deep-translator's engine, for one language, that is used."""

    def translate(self, text: str) -> object:
        """Translate; raises the exceptions of deep-translator, httpx2 and JSON decoding."""


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """How a provider is created and addressed.

    ``engine`` creates its engine for a language code of its own, which ``language_code`` returns for an ISO
    639-1 code. ``url`` and ``key``: the use of the options.
    """

    engine: Callable[[ProviderOptions, str, BoundedHttpClient], Engine]
    language_code: Callable[[str], str | None]
    max_characters: int
    preserves_lines: bool = True
    url: Use = "refused"
    key: Use = "refused"


class _Libre(LibreTranslator):  # type: ignore[misc]
    def __init__(self, options: ProviderOptions, code: str, http: BoundedHttpClient) -> None:
        # The constructor requires a key; without one in the options, none is sent.
        url = f"{(options.base_url or '').rstrip('/')}/"
        super().__init__("auto", "en", options.api_key or "none", custom_url=url)
        self.source = code  # its list of languages lacks Dutch, which the servers have
        self._key = {"api_key": options.api_key} if options.api_key else {}
        self._http = http

    def translate(self, text: str) -> object:
        form = {"q": text, "source": self.source, "target": self.target, "format": "text", **self._key}
        return json.loads(self._http.post(f"{self._base_url}translate", form))["translatedText"]


class _Deepl(DeeplTranslator):  # type: ignore[misc]
    def __init__(self, options: ProviderOptions, code: str, http: BoundedHttpClient) -> None:
        key = options.api_key or ""
        super().__init__(code, "en", key, use_free_api=key.endswith(":fx"))
        if options.base_url:
            self._base_url = f"{options.base_url.rstrip('/')}/{self.version}/"
        self._http = http

    def translate(self, text: str) -> object:
        # DeepL requires the key in a header.
        headers = {"Authorization": f"DeepL-Auth-Key {self.api_key}"}
        form = {"source_lang": self.source, "target_lang": self.target, "text": text}
        answer = self._http.post(f"{self._base_url}translate", form, headers)
        return json.loads(answer)["translations"][0]["text"]


class _Google(GoogleTranslator):  # type: ignore[misc]
    def __init__(self, _: ProviderOptions, code: str, http: BoundedHttpClient) -> None:
        super().__init__(code, "en")
        self._http = http

    def translate(self, text: str) -> object:
        params = {"tl": self.target, "sl": self.source, self.payload_key: text}
        page = BeautifulSoup(self._http.get(self._base_url, params), "html.parser")
        for query in (self._element_query, self._alt_element_query):
            if element := page.find(self._element_tag, query):
                return element.get_text(strip=True)
        raise TranslationNotFound(None)


class _MyMemory(MyMemoryTranslator):  # type: ignore[misc]
    def __init__(self, _: ProviderOptions, code: str, http: BoundedHttpClient) -> None:
        super().__init__(code, "en-GB")
        self._base_url = BASE_URLS["MYMEMORY"].replace("http://", "https://", 1)
        self._http = http

    def translate(self, text: str) -> object:
        query = {"langpair": f"{self.source}|{self.target}", self.payload_key: text}
        answer = json.loads(self._http.get(self._base_url, query))
        translated = answer["responseData"]["translatedText"] or answer["matches"][0]["translation"]
        if str(translated).startswith("MYMEMORY WARNING"):
            raise TooManyRequests
        return translated


def _deepl_code(language: str) -> str | None:
    return language if language in DEEPL_LANGUAGE_TO_CODE.values() else None


def _google_code(language: str) -> str | None:
    code = _GOOGLE_CODES.get(language, language)
    return code if code in GOOGLE_LANGUAGES_TO_CODES.values() else None


def _mymemory_code(language: str) -> str | None:
    codes = [code for code in MY_MEMORY_LANGUAGES_TO_CODES.values() if code.startswith(f"{language}-")]
    main = f"{language}-{language.upper()}"
    return main if main in codes else min(codes, default=None)


PROVIDER_SPECS: Mapping[ProviderName, ProviderSpec] = {
    # ISO 639-1 codes; the server knows which it has.
    "libretranslate": ProviderSpec(_Libre, str, max_characters=4_500, url="needed", key="allowed"),
    "deepl": ProviderSpec(_Deepl, _deepl_code, max_characters=4_500, url="allowed", key="needed"),
    # The limit is 5,000.
    "google": ProviderSpec(_Google, _google_code, max_characters=4_500),
    # The limit is 500. The treatment of lines is undocumented.
    "mymemory": ProviderSpec(_MyMemory, _mymemory_code, max_characters=450, preserves_lines=False),
}
