"""The HTTP of one endpoint: one POST a chat completion, and what comes back is limited in size."""

import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import structlog

from scoring.values.scored_answer import SCORER_VERSION
from streams.llm.endpoints.faults import EndpointFault, NoReply
from streams.llm.endpoints.statuses import no_reply_from_status
from streams.settings import EndpointSettings

log = structlog.get_logger(__name__)

#: Two thousand tokens with log probabilities are some 1 MB; an endpoint that has gone wrong sends on and on.
_MAX_BYTES = 8_000_000
_IDENTITY = "identity"
_HEADERS = {
    "accept": "application/json",
    "accept-encoding": _IDENTITY,  # so that sizes are what they seem
    "user-agent": f"truthgate/{SCORER_VERSION}",
}


class ReplyTooLarge(httpx2.TransportError):
    """The body is larger than any reply."""


class CompressedReply(httpx2.TransportError):
    """The body is compressed, which was not asked for, and may be anything when unpacked."""


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
    """Sends chat completions to one endpoint, each once; nothing that it does is raised.

    Requests go to httpx2's transport, without the client around it, which follows redirects, keeps cookies,
    adds headers and reads the environment for proxies and credentials.

    Args:
        name: what the settings call the endpoint.
        settings: where it is.

    Raises:
        InvalidSettings: an authority of TLS cannot be read.
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
        """Send one body, and return that of the answer; the time it takes is for the caller to limit."""
        try:
            request = httpx2.Request("POST", self._url, headers=self._headers, json=body)
            response = await self._transport.handle_async_request(request)
            try:
                content = await _content(response)
            finally:
                await response.aclose()
        except Exception as error:  # noqa: BLE001 - libraries raise what they like, texts in it
            return NoReply(self._fault(error))
        if response.is_success:
            return content
        return no_reply_from_status(response.status_code, response.headers, content)

    def _fault(self, error: Exception) -> EndpointFault:
        chain = tuple(_causes(error))
        for kind, fault in _FAULT_BY_ERROR:
            if any(isinstance(one, kind) for one in chain):
                return fault
        log.error("judge_failed_unexpectedly", judge=self._name, error_type=type(error).__name__)
        return EndpointFault.UNEXPECTED


async def _content(response: httpx2.Response) -> bytes:
    if response.headers.get("content-encoding", _IDENTITY) != _IDENTITY:
        raise CompressedReply("a content encoding")
    content = bytearray()
    async for chunk in response.aiter_raw():
        content += chunk
        if len(content) > _MAX_BYTES:
            raise ReplyTooLarge("more than a reply")
    return bytes(content)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):  # of a host with several addresses
            yield from error.exceptions
        error = error.__cause__ or error.__context__
