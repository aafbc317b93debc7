"""The engine over HTTP, against a server that speaks the protocol."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from streams.search.embedders import HttpEmbedder
from streams.search.types import EmbeddingFailed
from streams.settings import RetrievalSettings
from tests.support.local_http import QuietHandler, served
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
    embedders: list[HttpEmbedder] = field(default_factory=list)

    @property
    def piece(self) -> int:
        return 1 if self.trickle else 1 << 30

    def answer(self, wanted: dict[str, Any]) -> bytes:
        rows = [{"index": number, "embedding": [len(text), 1]} for number, text in enumerate(wanted["input"])]
        return self.body if self.body is not None else json.dumps({"data": rows[::-1]}).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    known = Server()

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            wanted = json.loads(self.read_body())
            known.asked.append({**wanted, "path": self.path, "key": self.headers.get("Authorization")})
            if known.wait:
                known.wait.wait(10)
            body = known.answer(wanted)
            self.send_response(known.statuses.pop(0) if known.statuses else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):  # the client has read enough
                for at in range(0, len(body), known.piece):
                    self.wfile.write(body[at : at + known.piece])
                    time.sleep(known.trickle)

    with served(Handler) as address:
        known.url = f"{address}/v1"
        yield known
        if known.wait:
            known.wait.set()
    for embedder in known.embedders:
        embedder._client.close()


def opened(server: Server, attempts: int = 3, **options: Any) -> HttpEmbedder:
    options = {"url": server.url, "model": "model-1", "key": "key", **options}
    named = {f"embeddings_{name}": value for name, value in options.items()}
    embedder = HttpEmbedder(RetrievalSettings(embedder="http", floor=0.5, **named), attempts=attempts)
    server.embedders.append(embedder)
    return embedder


def test_vectors_come_in_the_order_of_the_texts_some_at_a_time_and_of_length_one(server):
    endpoint = opened(server)
    vectors = endpoint.embed_documents(["a", "bbb", "cc"] * 11)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors[:, 0] / vectors[:, 1], [1, 3, 2] * 11)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert [len(asked["input"]) for asked in server.asked] == [32, 1]
    assert (server.asked[0]["path"], server.asked[0]["key"]) == ("/v1/embeddings", "Bearer key")
    assert endpoint.dimensions == 2


def test_a_failure_that_may_pass_is_retried_and_no_other(server):
    endpoint = opened(server)
    server.statuses = [503, 429]
    assert endpoint.embed_query("x").shape == (2,)
    assert len(server.asked) == 3
    for status, attempts in ((401, 1), (302, 1), (500, 3)):
        server.statuses, server.asked = [status] * attempts, []
        with pytest.raises(EmbeddingFailed, match=f"^embeddings_status_{status}$"):
            endpoint.embed_query(SECRET)
        assert len(server.asked) == attempts


@pytest.mark.parametrize(
    "body",
    [
        b"no json",
        b"[" * 100_000,
        b"[]",
        b"{}",
        b'{"data": []}',
        b'{"data": [{"index": 0, "embedding": ["x"]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 1]}]}' + b" " * 3_000_000,
    ],
    ids=range(7),
)
def test_an_unreadable_response_is_a_failure_that_quotes_nothing(server, body):
    server.body = body
    with pytest.raises(EmbeddingFailed, match=r"^embeddings_unreadable$") as failed:
        opened(server).embed_query(SECRET)
    assert (failed.value.__cause__, failed.value.__context__) == (None, None)


def test_a_response_that_comes_byte_by_byte_takes_no_longer_than_one_call_may(server):
    server.trickle = 0.02
    with pytest.raises(EmbeddingFailed, match=r"^embeddings_timeout$"):
        opened(server, timeout_seconds=0.2, attempts=1).embed_query("x")


def test_a_server_that_is_silent_or_gone_is_a_failure(server):
    server.wait = threading.Event()
    with pytest.raises(EmbeddingFailed, match=r"^embeddings_timeout$"):
        opened(server, timeout_seconds=0.05, attempts=1).embed_query("x")
    with pytest.raises(EmbeddingFailed, match=r"^embeddings_unreachable$"):
        opened(server, url=f"http://{NOBODY}/v1", attempts=1).embed_query("x")


def test_an_endpoint_needs_a_floor():
    with pytest.raises(ValueError, match="embedder http needs a floor"):
        RetrievalSettings(embedder="http", embeddings_url="http://embeddings", embeddings_model="m")
