"""An endpoint that speaks OpenAI's chat completions, says what it is told to, and fails in every way.

It runs in a thread of its own. By hand: ``python -m tests.support.llm_endpoint``.
"""

import argparse
import asyncio
import json
import socket
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ssl import SSLContext
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.support.ports import hold_port, port_of

_CALL_SECONDS = 10.0
_CHUNK = b" " * 65_536

Respond = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True)
class Behaviour:
    """How a request is answered; the first that is set of what follows ``delay`` counts."""

    #: Seconds before anything is sent.
    delay: float = 0.0
    #: Send nothing, as long as the client or the server stays.
    frozen: bool = False
    #: Close the connection without an answer, as a crash does.
    reset: bool = False
    #: Send these bytes as they are, in the place of HTTP, and close the connection.
    raw: bytes | None = None
    #: Send a body that does not end.
    endless: bool = False
    #: Send the headers and half of the body, and close the connection.
    half: bool = False
    #: Send the body a byte at a time, one every so many seconds.
    drip: float = 0.0
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Send this body instead, whatever it is.
    body: bytes | None = None


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


def a_label(_: Mapping[str, Any]) -> str:
    """Reply with a label."""
    return '{"label": "TRUE", "confidence": 0.9}'


def completion(content: str, asked: Mapping[str, Any], **message: Any) -> dict[str, Any]:
    """Return a chat completion with this reply, its words as its tokens."""
    tokens = [f"{word} " for word in content.split(" ")]
    tokens[-1] = tokens[-1][:-1]
    placed = [
        {"token": token, "logprob": -0.1, "bytes": list(token.encode()), "top_logprobs": _likeliest(token)}
        for token in tokens
    ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": f"{asked['model']}-0613",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": content, "refusal": None, **message},
                "logprobs": {"content": placed, "refusal": None} if asked.get("logprobs") else None,
            }
        ],
        "usage": {"prompt_tokens": 120, "completion_tokens": len(tokens), "total_tokens": 120 + len(tokens)},
    }


def _likeliest(token: str) -> list[dict[str, Any]]:
    return [{"token": token, "logprob": -0.1, "bytes": None}, {"token": "x", "logprob": -2.5, "bytes": None}]


class LlmEndpoint:
    """The endpoint: ``with LlmEndpoint() as endpoint: endpoint.url``. It can stop and start again.

    Args:
        respond: gives the reply to the body of a request.
        refuses: parameters that it answers with status 400, as values or names; see ``names_them``.
        names_them: whether it says which parameter it is that it refuses.
        ssl: speaks TLS with this.
    """

    def __init__(
        self,
        respond: Respond = a_label,
        refuses: frozenset[str] = frozenset(),
        *,
        names_them: bool = True,
        ssl: SSLContext | None = None,
    ) -> None:
        self.respond = respond
        self.refuses = refuses
        self.names_them = names_them
        self.asked: list[Asked] = []
        self.behaviour = Behaviour()
        self._next: deque[Behaviour] = deque()
        self._ssl = ssl
        self._held = hold_port()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="llm-endpoint", daemon=True)
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        scheme = "https" if self._ssl else "http"
        return f"{scheme}://127.0.0.1:{port_of(self._held)}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CALL_SECONDS)
        self._loop.close()
        self._held.close()

    def start(self) -> None:
        """Listen, on the port it had before."""
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(_CALL_SECONDS)

    def stop(self) -> None:
        """Listen no more, and drop the connections there are."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(_CALL_SECONDS)

    def behave(self, **changes: Any) -> None:
        """Answer from now on in this way: ``behave(status=500)``; ``behave()`` is well again."""
        self._next.clear()
        self.behaviour = Behaviour(**changes)

    def behave_next(self, *behaviours: Behaviour) -> None:
        """Answer the next requests in these ways, one each, and then as before."""
        self._next.extend(behaviours)

    async def _start(self) -> None:
        application = web.Application(client_max_size=100_000_000)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(
            application, access_log=None, shutdown_timeout=0, handler_cancellation=True
        )
        await self._runner.setup()
        site = web.TCPSite(
            self._runner, "127.0.0.1", port_of(self._held), ssl_context=self._ssl, reuse_address=True
        )
        await site.start()

    async def _stop(self) -> None:
        if self._runner:
            await self._runner.cleanup()
            self._runner = None

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read() or b"{}")
        self.asked.append(Asked(request.path, dict(request.headers), body))
        behaviour = self._next.popleft() if self._next else self.behaviour
        await asyncio.sleep(behaviour.delay)
        if behaviour.frozen:
            await asyncio.Event().wait()
        if behaviour.reset or behaviour.raw is not None:
            return await _off_the_wire(request, behaviour.raw or b"")
        if behaviour.endless:
            return await _endless(request)
        status, answer = self._answer(behaviour, request.path, body)
        if behaviour.half or behaviour.drip:
            return await _slowly(request, answer, behaviour)
        headers = {"Content-Type": "application/json", **behaviour.headers}
        return web.Response(status=status, body=answer, headers=headers)

    def _answer(self, behaviour: Behaviour, path: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
        if behaviour.body is not None:
            return behaviour.status, behaviour.body
        if behaviour.status != 200:
            return behaviour.status, b'{"error": {"message": "as asked", "type": "test"}}'
        if path != "/v1/chat/completions":
            return 404, b'{"error": {"message": "not found"}}'
        if refused := sorted(self.refuses & _sent(body)):
            return 400, _refusal(refused[0] if self.names_them else None)
        return 200, json.dumps(completion(self.respond(body), body)).encode()


def _sent(body: Mapping[str, Any]) -> set[str]:
    return {*body, str(body.get("response_format", {}).get("type"))}


def _refusal(parameter: str | None) -> bytes:
    about = f"Unsupported parameter: '{parameter}'" if parameter else "Bad request"
    if parameter == "max_tokens":
        about += ", use 'max_completion_tokens' instead"
    return json.dumps({"error": {"message": about, "type": "invalid_request_error", "code": None}}).encode()


async def _off_the_wire(request: web.Request, raw: bytes) -> web.StreamResponse:
    transport = request.transport
    assert transport is not None
    if raw:
        transport.write(raw)
        transport.close()
    else:
        connection: socket.socket = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    await asyncio.Event().wait()  # aiohttp would send a response of its own
    raise AssertionError


async def _slowly(request: web.Request, answer: bytes, behaviour: Behaviour) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": str(len(answer))})
    await response.prepare(request)
    if behaviour.half:
        await response.write(answer[: len(answer) // 2])
        return await _off_the_wire(request, b" ")
    for place in range(len(answer)):
        await response.write(answer[place : place + 1])
        await asyncio.sleep(behaviour.drip)
    return response


async def _endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    try:
        while True:
            await response.write(_CHUNK)
    except ConnectionResetError:  # the client has had enough
        return response


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each reply")
    options = parser.parse_args()
    with LlmEndpoint() as endpoint:
        endpoint.behave(delay=options.delay)
        sys.stderr.write(f"listening on {endpoint.url}\n")
        threading.Event().wait()


if __name__ == "__main__":
    main()
