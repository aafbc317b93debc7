"""The HTTP of one endpoint: what goes out is listed here, and what comes back is limited in size."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
from pydantic import SecretStr

from scoring.values.version import SCORER_VERSION
from streams.settings import EndpointSettings, trusting

#: Two thousand tokens with log probabilities are some 1 MB; an endpoint that has gone wrong sends on and on.
_MOST_BYTES = 8_000_000

#: The library adds headers that describe this machine, and those that OPENAI_* variables ask for.
_SENT = ("host", "content-type", "content-length")
_OWN = {
    "accept": "application/json",
    "accept-encoding": "identity",  # so that sizes are what they seem
    "user-agent": f"truthgate/{SCORER_VERSION}",
}


class TooLarge(httpx2.TransportError):
    """The body is larger than any reply."""


class Encoded(httpx2.TransportError):
    """The body is compressed, which was not asked for, and may be anything when unpacked."""


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Sends what ``inner`` sends, with no header but those known here, and takes in so many bytes.

    Args:
        inner: sends.
        key: sent as a bearer token; None: no such header.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, key: SecretStr | None) -> None:
        self._inner = inner
        self._own = {**_OWN, "authorization": f"Bearer {key.get_secret_value()}"} if key else _OWN

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; raises TooLarge and Encoded beside what httpx2 raises."""
        known = {name: request.headers[name] for name in _SENT if name in request.headers}
        # Another one: the library looks into its own headers for what it asked itself.
        sent = httpx2.Request(
            request.method,
            request.url,
            headers={**known, **self._own},
            stream=request.stream,
            extensions=request.extensions,
        )
        response = await self._inner.handle_async_request(sent)
        body = response.stream
        assert isinstance(body, httpx2.AsyncByteStream)
        if response.headers.get("content-encoding", "identity") != "identity":
            await body.aclose()
            raise Encoded("a content encoding")
        response.stream = _Bounded(body)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._body:
            read += len(chunk)
            if read > _MOST_BYTES:
                raise TooLarge("more than a reply")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


def http_client(name: str, settings: EndpointSettings) -> httpx2.AsyncClient:
    """Open what speaks HTTP with one endpoint, and with nobody else.

    Redirects are not followed, and nothing is read from the environment: no proxies, no credentials. It has
    no time limits of its own. Raises WrongSettings for an authority that cannot be read.
    """
    limits = httpx2.Limits(
        max_connections=settings.concurrency, max_keepalive_connections=settings.concurrency
    )
    transport = httpx2.AsyncHTTPTransport(
        verify=trusting(f"judges.endpoints.{name}.cafile", settings.cafile),
        trust_env=False,
        limits=limits,
        proxy=settings.proxy or None,
    )
    bounded = BoundedTransport(transport, settings.api_key)
    return httpx2.AsyncClient(transport=bounded, trust_env=False, follow_redirects=False, timeout=None)
