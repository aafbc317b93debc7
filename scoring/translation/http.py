"""The HTTP of a translator: limited in time and size, and without a redirect."""

import logging
import time
from collections.abc import Iterator, Mapping

import httpx2

#: No translation of what is sent in one call is longer; a server that has gone wrong sends anything.
_MAX_BYTES = 4_000_000

# It logs addresses, and some translators take texts only in these.
logging.getLogger("httpx2").setLevel(logging.WARNING)


class ResponseTimeout(Exception):
    """The answer did not come within the time limit."""


class ResponseTooLarge(Exception):
    """The answer is larger than any translation."""


class BoundedHttpClient:
    """Sends requests, each within ``timeout`` seconds for connecting and then for the whole answer.

    Name resolution has the limits of the operating system. Connections are kept for ``threads``
    threads. A redirect is not followed: it would send a text to an address nobody chose. Proxies come from
    the environment.
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
        """Return the answer's body; raises as :meth:`post` does."""
        return self._body(self._client.build_request("GET", url, params=params))

    def post(self, url: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None) -> bytes:
        """Return the answer's body; raises TooSlow, TooLarge, and HTTPError and InvalidURL of httpx2."""
        return self._body(self._client.build_request("POST", url, data=form, headers=headers))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _body(self, request: httpx2.Request) -> bytes:
        deadline = time.monotonic() + self._timeout
        response = self._client.send(request, stream=True)
        try:
            return b"".join(_chunks(response.raise_for_status(), deadline))
        finally:
            response.close()


def _chunks(response: httpx2.Response, deadline: float) -> Iterator[bytes]:
    read = 0
    for chunk in response.iter_raw():
        read += len(chunk)
        if read > _MAX_BYTES:
            raise ResponseTooLarge
        if time.monotonic() > deadline:
            raise ResponseTimeout
        yield chunk
