"""An HTTP client with limits on time and size, and without redirects."""

import logging
import time
from collections.abc import Mapping

import httpx2

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
