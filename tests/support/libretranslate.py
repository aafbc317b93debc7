"""A server that speaks LibreTranslate's protocol and knows the translations of parallel texts.

It can be slow, fail in every way that a server fails, and answer with nonsense. By hand:
``python -m tests.support.libretranslate``.
"""

import argparse
import json
import re
import socket
import struct
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.support.local_http import QuietHandler
from tests.support.parallel_texts import ParallelTexts
from tests.support.ports import hold_port, port_of

# What the server can do in the place of translating.
NONSENSE = {
    "echo": lambda q, _: q,
    "empty": lambda _, __: "",
    "long": lambda _, english: f"{english} and so on" * 50,
    "short": lambda _, __: "Ok.",
    "numbers": lambda _, english: re.sub(r"\d", "7", english),
    "merged": lambda _, english: english.replace("\n", " "),
    "list": lambda _, english: [english],
    "none": lambda _, __: None,
    "surrogate": lambda _, english: f"{english} \ud800",  # valid JSON, as an escape
    "nul": lambda _, english: f"{english} \0",
}


@dataclass
class Behaviour:
    """How the server answers; may be changed while it runs."""

    delay: float = 0.0
    #: Answer with this status instead.
    status: int = 200
    #: Close the connection without an answer, as a crash does.
    reset: bool = False
    #: Send the answer byte by byte, one every so many seconds.
    drip: float = 0.0
    #: A name of NONSENSE.
    nonsense: str | None = None
    #: Send this body instead, whatever it is.
    body: bytes | None = None
    #: Wait for this before answering.
    gate: threading.Event | None = None


@dataclass
class Asked:
    """One request as it came."""

    path: str
    query: str
    texts: list[str]
    key: str | None
    source: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class LibreTranslate:
    """The server: ``with LibreTranslate(texts) as server: server.url``. It can stop and start again."""

    texts: ParallelTexts
    port: int = 0
    api_key: str | None = None
    languages: frozenset[str] = frozenset({"nl"})
    behaviour: Behaviour = field(default_factory=Behaviour)
    asked: list[Asked] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    _server: ThreadingHTTPServer | None = None
    _held: socket.socket | None = None
    _failing: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
        if self._held:
            self._held.close()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen, on the port it had before if there was one."""
        if not self.port:
            self._held = hold_port()
            self.port = port_of(self._held)
        self._server = _Server(("127.0.0.1", self.port), _handler(self))
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Listen no more, and drop the connections there are."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def behave(self, **changes: Any) -> None:
        """Answer from now on in this way: ``behave(status=500)``; ``behave()`` is well again."""
        self.behaviour = Behaviour(**changes)

    def fail_next(self, times: int) -> None:
        """Answer the next requests with status 500."""
        self._failing = times

    def next_behaviour(self) -> Behaviour:
        """Return how to answer the request at hand."""
        with self._lock:
            if self._failing:
                self._failing -= 1
                return Behaviour(status=500)
        return self.behaviour

    def translate(self, text: str) -> str | None:
        """Translate line by line, as LibreTranslate does; None when a line is not known."""
        lines = [self.texts.translation(line) for line in text.split("\n")]
        if None in lines:
            self.unknown += [
                line for line, found in zip(text.split("\n"), lines, strict=True) if found is None
            ]
            return None
        return "\n".join(line or "" for line in lines)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, *args: Any) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self._open):
            _abort(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that have left."""


def _abort(connection: socket.socket) -> None:
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it has been closed already


def _handler(server: LibreTranslate) -> type[BaseHTTPRequestHandler]:
    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = _asked(self)
            server.asked.append(asked)
            behaviour = server.next_behaviour()
            if behaviour.gate:
                behaviour.gate.wait(30)
            time.sleep(behaviour.delay)
            if behaviour.reset:
                self.close_connection = True
                _abort(self.connection)
                return
            status, body = _answer(server, behaviour, asked)
            _send(self, status, body, behaviour.drip)

        do_GET = do_POST

    return Handler


def _asked(handler: BaseHTTPRequestHandler) -> Asked:
    parts = urlsplit(handler.path)
    raw = handler.rfile.read(int(handler.headers.get("Content-Length") or 0)).decode()
    is_json = handler.headers.get("Content-Type", "").startswith("application/json")
    values: dict[str, Any] = {name: found[0] for name, found in parse_qs(parts.query).items()}
    values |= json.loads(raw) if is_json else {name: found[0] for name, found in parse_qs(raw).items()}
    q = values.get("q", "")
    texts = q if isinstance(q, list) else [q]
    return Asked(
        parts.path, parts.query, texts, values.get("api_key"), values.get("source", ""), dict(handler.headers)
    )


def _answer(server: LibreTranslate, behaviour: Behaviour, asked: Asked) -> tuple[int, bytes]:
    if behaviour.status != 200:
        return behaviour.status, b'{"error": "as asked"}'
    if behaviour.body is not None:
        return 200, behaviour.body
    if refusal := _refusal(server, asked):
        return refusal
    translated = [server.translate(text) for text in asked.texts]
    if None in translated:
        return 400, b'{"error": "these are not texts that this server knows"}'
    found: Any = translated[0]
    if behaviour.nonsense:
        found = NONSENSE[behaviour.nonsense](asked.texts[0], found)
    return 200, json.dumps({"translatedText": found}).encode()


def _refusal(server: LibreTranslate, asked: Asked) -> tuple[int, bytes] | None:
    if asked.path != "/translate":
        return 404, b'{"error": "Not found"}'
    if server.api_key and asked.key != server.api_key:
        return 403, b'{"error": "Invalid API key"}'
    if asked.source not in server.languages:
        return 400, b'{"error": "this language is not supported"}'
    return None


def _send(handler: BaseHTTPRequestHandler, status: int, body: bytes, drip: float) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    if not drip:
        handler.wfile.write(body)
        return
    for index in range(len(body)):
        handler.wfile.write(body[index : index + 1])
        handler.wfile.flush()
        time.sleep(drip)


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=0, help="any free one unless given")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument(
        "--parallel",
        nargs=2,
        type=Path,
        action="append",
        default=[],
        metavar=("DUTCH", "ENGLISH"),
        help="JSONL files with the same ids, beside the sample's",
    )
    options = parser.parse_args()
    texts = ParallelTexts.of_sample()
    for dutch, english in options.parallel:
        texts.add_files(dutch, english)
    with LibreTranslate(texts, options.port, behaviour=Behaviour(delay=options.delay)) as server:
        sys.stderr.write(f"listening on {server.url}\n")
        threading.Event().wait()


if __name__ == "__main__":
    main()
