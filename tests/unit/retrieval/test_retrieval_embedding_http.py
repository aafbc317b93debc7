"""The engine over HTTP, against a server that speaks the protocol."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from streams.search.embedder import EmbeddingFailed
from streams.search.embedding_http import HttpEmbedder
from streams.settings import RetrievalSettings
from tests.support.ports import NOBODY

SECRET = "a customer's text"


@dataclass
class Server:
    """Gives each text the vector ``[length, 1]``, or the next of the statuses or bodies it was told."""

    statuses: list[int] = field(default_factory=list)
    body: bytes | None = None
    wait: threading.Event | None = None
    trickle: float = 0
    asked: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    @property
    def piece(self) -> int:
        return 1 if self.trickle else 1 << 30

    def answer(self, wanted: dict[str, Any]) -> bytes:
        rows = [{"index": number, "embedding": [len(text), 1]} for number, text in enumerate(wanted["input"])]
        return self.body if self.body is not None else json.dumps({"data": rows[::-1]}).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    known = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            wanted = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            known.asked.append({**wanted, "path": self.path, "key": self.headers.get("Authorization")})
            if known.wait:
                known.wait.wait(10)
            body = known.answer(wanted)
            self.send_response(known.statuses.pop(0) if known.statuses else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            for at in range(0, len(body), known.piece):
                self.wfile.write(body[at : at + known.piece])
                time.sleep(known.trickle)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        known.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
        threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
        yield known
        if known.wait:
            known.wait.set()
        http.shutdown()


def opened(server: Server, attempts: int = 3, **options: Any) -> HttpEmbedder:
    options = {"url": server.url, "model": "model-1", "key": "key", **options}
    named = {f"embeddings_{name}": value for name, value in options.items()}
    return HttpEmbedder(RetrievalSettings(embedder="http", floor=0.5, **named), attempts=attempts)


def test_vectors_come_in_the_order_of_the_texts_some_at_a_time_and_of_length_one(server: Server) -> None:
    endpoint = opened(server)
    vectors = endpoint.embed_documents(["a", "bbb", "cc"] * 11)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors[:, 0] / vectors[:, 1], [1, 3, 2] * 11)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert [len(asked["input"]) for asked in server.asked] == [32, 1]
    assert (server.asked[0]["path"], server.asked[0]["key"]) == ("/v1/embeddings", "Bearer key")
    assert endpoint.dimensions == 2
    endpoint.close()


def test_what_may_pass_is_tried_again_and_the_rest_is_not(server: Server) -> None:
    endpoint = opened(server)
    server.statuses = [503, 429]
    assert endpoint.embed_query("x").shape == (2,)
    assert len(server.asked) == 3
    server.statuses = [401]
    with pytest.raises(EmbeddingFailed, match=r"^embeddings_status_401$"):
        endpoint.embed_query(SECRET)
    assert len(server.asked) == 4
    server.statuses = [500] * 9
    with pytest.raises(EmbeddingFailed, match=r"^embeddings_status_500$"):
        endpoint.embed_query(SECRET)
    assert len(server.asked) == 7
    endpoint.close()


@pytest.mark.parametrize(
    "body",
    [
        b"no json",
        b"[" * 100_000,
        b"[]",
        b"{}",
        b'{"data": []}',
        b'{"data": [{"index": 0, "embedding": ["x"]}]}',
    ],
)
def test_what_is_no_answer_is_a_failure_that_quotes_nothing(server: Server, body: bytes) -> None:
    endpoint = opened(server)
    server.body = body
    with pytest.raises(EmbeddingFailed, match=r"^embeddings_unreadable$"):
        endpoint.embed_query(SECRET)
    endpoint.close()


def test_more_than_an_answer_is_not_read_to_its_end(server: Server) -> None:
    endpoint = opened(server)
    server.body = b'{"data": [{"index": 0, "embedding": [1, 1]}]}' + b" " * 3_000_000
    with pytest.raises(EmbeddingFailed, match=r"^embeddings_unreadable$"):
        endpoint.embed_query(SECRET)
    endpoint.close()


def test_an_answer_that_comes_byte_by_byte_takes_no_longer_than_one_call_may(server: Server) -> None:
    endpoint = opened(server, timeout_seconds=0.2, attempts=1)
    server.trickle = 0.02
    with pytest.raises(EmbeddingFailed, match=r"^embeddings_timeout$"):
        endpoint.embed_query("x")
    endpoint.close()


def test_a_server_that_is_silent_or_gone_is_a_failure(server: Server) -> None:
    endpoint = opened(server, timeout_seconds=0.05, attempts=1)
    server.wait = threading.Event()
    with pytest.raises(EmbeddingFailed, match=r"^embeddings_timeout$"):
        endpoint.embed_query("x")
    endpoint.close()
    gone = opened(server, url=f"http://{NOBODY}/v1", attempts=1)
    with pytest.raises(EmbeddingFailed, match=r"^embeddings_unreachable$"):
        gone.embed_query("x")
    gone.close()
