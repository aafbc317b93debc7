"""The HTTP client of one endpoint: one POST a chat completion, and a limit on the size of the response."""

import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import structlog

from scoring.values.scored_answer import SCORER_VERSION
from streams.llm.endpoints.faults import EndpointFault, NoReply, no_reply_from_status
from streams.settings import EndpointSettings

log = structlog.get_logger(__name__)

#: Two thousand tokens with log probabilities are some 1 MB; a faulty endpoint may send without end.
_MAX_BYTES = 8_000_000
_IDENTITY = "identity"
_HEADERS = {
    "accept": "application/json",
    "accept-encoding": _IDENTITY,  # so that the size is that of the text
    "user-agent": f"truthgate/{SCORER_VERSION}",
}


class ReplyTooLarge(httpx2.TransportError):
    """The body is larger than any reply."""


class CompressedReply(httpx2.TransportError):
    """The body is compressed, which was not asked for, and may be of any size when decompressed."""


_FAULT_BY_ERROR: tuple[tuple[type[Exception], EndpointFault], ...] = (
    (ReplyTooLarge, EndpointFault.TOO_LARGE),
    (CompressedReply, EndpointFault.UNREADABLE),
    (ssl.SSLError, EndpointFault.TLS),
    (httpx2.TimeoutException, EndpointFault.TIMEOUT),
    (socket.gaierror, EndpointFault.DNS),
    (ConnectionRefusedError, EndpointFault.CONNECTION_REFUSED),
    (httpx2.ConnectError, EndpointFault.UNREACHABLE),
    (httpx2.ProxyError, EndpointFault.UNREACHABLE),
    (httpx2.TransportError, EndpointFault.DISCONNECTED),
)


class ChatClient:
    """Sends chat completions to one endpoint, each once; raises nothing for what the endpoint does.

    Requests go to httpx2's transport and not to its client, which would follow redirects, store cookies, add
    headers and take proxies and credentials from the environment.

    Args:
        name: the name of the judge in the settings.
        settings: the endpoint.

    Raises:
        InvalidSettings: a certificate authority cannot be read.
    """

    def __init__(self, name: str, settings: EndpointSettings) -> None:
        self._name = name
        self._url = httpx2.URL(f"{settings.base_url.rstrip('/')}/chat/completions")
        key = settings.api_key
        self._headers = {**_HEADERS, "authorization": f"Bearer {key.get_secret_value()}"} if key else _HEADERS
        self._transport = httpx2.AsyncHTTPTransport(
            verify=ssl.create_default_context(),
            trust_env=False,
            limits=httpx2.Limits(
                max_connections=settings.concurrency, max_keepalive_connections=settings.concurrency
            ),
            proxy=settings.proxy or None,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    async def complete(self, body: Mapping[str, Any]) -> bytes | NoReply:
        """Send one body, and return that of the response; the timeout is the caller's."""
        try:
            request = httpx2.Request("POST", self._url, headers=self._headers, json=body)
            response = await self._transport.handle_async_request(request)
            try:
                content = await _content(response)
            finally:
                await response.aclose()
        except Exception as error:  # noqa: BLE001 - libraries raise anything, and quote texts in it
            return NoReply(self._fault(error))
        if response.is_success:
            return content
        return no_reply_from_status(response.status_code, response.headers, content)

    def _fault(self, error: Exception) -> EndpointFault:
        chain = tuple(_causes(error))
        for kind, fault in _FAULT_BY_ERROR:
            if any(isinstance(cause, kind) for cause in chain):
                return fault
        log.error("judge_failed_unexpectedly", judge=self._name, error_type=type(error).__name__)
        return EndpointFault.UNEXPECTED


async def _content(response: httpx2.Response) -> bytes:
    if response.headers.get("content-encoding", _IDENTITY) != _IDENTITY:
        raise CompressedReply("content encoding")
    content = bytearray()
    async for chunk in response.aiter_raw():
        content += chunk
        if len(content) > _MAX_BYTES:
            raise ReplyTooLarge("too many bytes")
    return bytes(content)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):  # of a host with several addresses
            yield from error.exceptions
        error = error.__cause__ or error.__context__
