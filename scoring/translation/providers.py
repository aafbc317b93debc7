"""The one small interface to a translator, which keeps to its limits."""

from __future__ import annotations

import requests
import urllib3
from deep_translator.exceptions import NotValidLength, TooManyRequests, TranslationNotFound

from scoring.translation.engines import KINDS, ProviderOptions
from scoring.translation.errors import Fault, TranslationFailed, TranslatorMisconfigured
from scoring.translation.http import BadStatus, BoundedHttp, TooSlow

#: 456 is DeepL's "quota exceeded"; every other status is a fault of the server.
_STATUSES = {
    **dict.fromkeys((400, 413, 414, 422), Fault.REFUSED),
    **dict.fromkeys((401, 402, 403, 407, 456), Fault.UNAUTHORIZED),
    429: Fault.RATE_LIMITED,
}

#: In this order: requests' errors are of several kinds at once.
_FAULTS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], Fault], ...] = (
    ((TooSlow, requests.Timeout, urllib3.exceptions.TimeoutError, TimeoutError), Fault.TIMEOUT),
    (requests.JSONDecodeError, Fault.SERVER_ERROR),
    ((requests.RequestException, urllib3.exceptions.HTTPError, OSError), Fault.UNREACHABLE),
    (TranslationNotFound, Fault.EMPTY),
    (NotValidLength, Fault.TOO_LONG),
    (TooManyRequests, Fault.RATE_LIMITED),
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
        kind = KINDS[options.name]
        for given, use, what in (
            (options.base_url, kind.url, "base_url"),
            (options.api_key, kind.key, "api_key"),
        ):
            if use == "needed" and not given:
                raise TranslatorMisconfigured(f"provider {options.name} needs {what}")
            if use == "refused" and given:
                raise TranslatorMisconfigured(f"provider {options.name} takes no {what}")
        self.identity = f"{options.name} {options.base_url or ''}"
        self.longest, self.keeps_lines = kind.longest, kind.keeps_lines
        self._kind = kind
        self._options = options
        self._http = BoundedHttp(
            options.timeout_seconds, options.threads, lambda out: kind.adapt(out, options)
        )

    def translate(self, text: str, source: str) -> str:
        """Translate ``text`` from the language of code ``source`` into English.

        Raises:
            TranslationFailed: in every case of failure, and with nothing of the text in it.
        """
        if (code := self._kind.code(source)) is None:
            raise TranslationFailed(Fault.UNSUPPORTED_LANGUAGE)
        outcome = self._attempt(text, code)
        # Raised here and not where it was caught: what was caught there may hold the text.
        if isinstance(outcome, Fault):
            raise TranslationFailed(outcome)
        return outcome

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _attempt(self, text: str, code: str) -> str | Fault:
        try:
            with self._http.in_use():
                translated = self._kind.engine(self._options, code).translate(text)
        except Exception as error:  # noqa: BLE001 - deep-translator raises what it likes, texts in it
            return _fault_of(error)
        if translated is None or translated == "":
            return Fault.EMPTY
        return translated if isinstance(translated, str) else Fault.SERVER_ERROR


def _fault_of(error: Exception) -> Fault:
    if isinstance(error, BadStatus):
        return _STATUSES.get(error.status, Fault.SERVER_ERROR)
    # Anything else is an answer that this provider does not give.
    return next((fault for types, fault in _FAULTS if isinstance(error, types)), Fault.SERVER_ERROR)
