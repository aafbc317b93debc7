"""One endpoint by the openai package, which takes half a second to import: only where one is named."""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import openai
import structlog

from streams.judging.endpoints.faults import Fault, NotAnswered
from streams.judging.endpoints.statuses import not_answered
from streams.judging.endpoints.transport import Encoded, TooLarge, http_client
from streams.settings import EndpointSettings

log = structlog.get_logger(__name__)

# They log addresses and headers, and OPENAI_LOG makes the first of them talk; what matters is told by us.
for _library in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(_library).setLevel(logging.CRITICAL)

_FAULTS: tuple[tuple[type[Exception], Fault], ...] = (
    (TooLarge, Fault.TOO_LARGE),
    (Encoded, Fault.UNREADABLE),
    (ssl.SSLError, Fault.TLS),
    (httpx2.TimeoutException, Fault.TIMEOUT),
    (socket.gaierror, Fault.DNS),
    (ConnectionRefusedError, Fault.CONNECTION_REFUSED),
    (httpx2.ConnectError, Fault.UNREACHABLE),
    (httpx2.ProxyError, Fault.UNREACHABLE),
    (openai.APIConnectionError, Fault.DISCONNECTED),
)


#: The library asks for one, and would look into the environment; what is sent is the transport's.
_NO_KEY = "none"


class Chat:
    """Sends chat completions to one endpoint, each once; nothing that it does is raised.

    Args:
        name: what the settings call the endpoint.
        settings: where it is.
    """

    def __init__(self, name: str, settings: EndpointSettings) -> None:
        self._name = name
        self._client = openai.AsyncOpenAI(
            base_url=settings.base_url,
            api_key=_NO_KEY,
            http_client=http_client(name, settings),
            timeout=None,
            max_retries=0,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def complete(self, body: Mapping[str, Any]) -> bytes | NotAnswered:
        """Send one body, and return that of the answer; the time it takes is for the caller to limit."""
        try:
            answer = await self._client.chat.completions.with_raw_response.create(**body)
        except openai.APIStatusError as error:
            return not_answered(error.status_code, error.response.headers, error.response.content)
        except Exception as error:  # noqa: BLE001 - libraries raise what they like, texts in it
            return NotAnswered(self._fault(error))
        content: bytes = answer.content
        return content

    def _fault(self, error: Exception) -> Fault:
        chain = tuple(_causes(error))
        for kind, fault in _FAULTS:
            if any(isinstance(one, kind) for one in chain):
                return fault
        log.error("judge_failed_unexpectedly", judge=self._name, error_type=type(error).__name__)
        return Fault.UNEXPECTED


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):  # of a host with several addresses
            yield from error.exceptions
        error = error.__cause__ or error.__context__
