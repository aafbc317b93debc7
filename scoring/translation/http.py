"""The HTTP that deep-translator is given: limited in time and size, and with no text in a URL.

deep-translator calls ``requests.get`` and ``requests.post`` without any time limit, and puts texts
(LibreTranslate's, DeepL's) and keys into the query string, where proxies and access logs keep them.
So its modules are given :data:`bounded` in the place of ``requests``: the same two functions, carried
out by whichever :class:`BoundedHttp` is in use.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import requests
from requests.adapters import HTTPAdapter

_CHUNK_BYTES = 65_536
#: No translation of what is sent in one call is longer; a server that has gone wrong sends anything.
_MOST_BYTES = 4_000_000


class TooSlow(Exception):
    """The answer did not come within the time limit."""


class BadStatus(Exception):
    """The server answered with another status than 2xx."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


class TooLarge(Exception):
    """The answer is larger than any translation."""


@dataclass(frozen=True, slots=True)
class Request:
    """What goes out. ``params`` is the query; ``form`` the body."""

    method: str
    url: str
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    form: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Response:
    """What deep-translator reads of an answer."""

    status_code: int
    body: bytes = field(repr=False)

    @property
    def text(self) -> str:
        """The body, read as UTF-8."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """Return the parsed body; raises ValueError where it is not JSON."""
        return json.loads(self.body)

    def close(self) -> None:
        """Do nothing: the connection has been given back already."""


class BoundedHttp:
    """Sends requests, each within ``timeout`` seconds for connecting and then for the whole answer.

    Name resolution has the limits of the operating system. Connections are kept for ``threads``
    threads. A redirect is not followed: it would send a text to an address nobody chose. ``adapt`` is how a
    provider changes its requests before they go out.
    """

    def __init__(self, timeout: float, threads: int, adapt: Callable[[Request], Request]) -> None:
        self._timeout = timeout
        self._adapt = adapt
        self._session = requests.Session()
        self._session.headers["Accept-Encoding"] = "identity"  # so that sizes are what they seem
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=threads))

    def send(self, request: Request) -> Response:
        """Send one request; raises BadStatus, TooSlow, TooLarge, and what requests and urllib3 raise."""
        deadline = time.monotonic() + self._timeout
        out = self._adapt(request)
        with self._session.request(
            out.method,
            out.url,
            params=dict(out.params),
            data=dict(out.form) or None,
            headers=dict(out.headers),
            timeout=self._timeout,
            allow_redirects=False,
            stream=True,
        ) as response:
            if not response.ok or response.is_redirect:
                raise BadStatus(response.status_code)
            return Response(response.status_code, b"".join(_body(response, deadline)))

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Have deep-translator use this, in the calling thread, while the context lasts."""
        token = _in_use.set(self)
        try:
            yield
        finally:
            _in_use.reset(token)

    def close(self) -> None:
        """Close the connections."""
        self._session.close()


def _body(response: requests.Response, deadline: float) -> Iterator[bytes]:
    read = 0
    # read1 returns what has come; the other ways of reading wait until a chunk is full.
    while chunk := response.raw.read1(_CHUNK_BYTES):
        read += len(chunk)
        if read > _MOST_BYTES:
            raise TooLarge
        if time.monotonic() > deadline:
            raise TooSlow
        yield chunk


_in_use: ContextVar[BoundedHttp] = ContextVar("http_in_use")


def _is_not_ours(_: logging.LogRecord) -> bool:
    return _in_use.get(None) is None


# It logs addresses, and some translators take texts only in these.
logging.getLogger("urllib3.connectionpool").addFilter(_is_not_ours)


class Bounded:
    """Stands where deep-translator has the module ``requests``."""

    exceptions = requests.exceptions

    def get(self, url: str, params: Mapping[str, str], proxies: None = None) -> Response:  # noqa: ARG002
        """Send a GET request. Proxies come from the environment, as they do with requests."""
        return _in_use.get().send(Request("GET", url, params))

    def post(self, url: str, params: Mapping[str, str]) -> Response:
        """Send a POST request, with what would be its query as its body."""
        return _in_use.get().send(Request("POST", url, form=params))


bounded = Bounded()
