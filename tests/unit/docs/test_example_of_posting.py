"""The sender of the examples knows when no receiver can have taken an answer, and when one may have."""

import socket
import threading
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

import pytest

from tests.support.own_patterns import ROOT
from tests.support.ports import NOBODY, hold_port, port_of

VERDICT = {"conversation_id": "c-1", "answer": "Klik.", "verdict_id": "v-1", "answer_id": "a-1"}
BREAKS_OFF = b""


def load(monkeypatch: pytest.MonkeyPatch, send_to: str) -> ModuleType:
    """Load ``post.py`` with this address; it does not wait between its attempts."""
    monkeypatch.setenv("SEND_TO", send_to)
    monkeypatch.setattr("time.sleep", lambda _: None)
    spec = spec_from_file_location("post_example", ROOT / "docs/examples/consumers/sender/post.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def answering() -> Iterator[Callable[..., str]]:
    """Give an address whose requests are answered with these heads, one after the other."""
    threads = []

    def serve(*heads: bytes) -> str:
        listening = hold_port()
        listening.listen()

        def answer() -> None:
            with listening:
                for head in heads:
                    with listening.accept()[0] as client:
                        read_request(client)
                        client.sendall(head)

        threads.append(threading.Thread(target=answer))
        threads[-1].start()
        return f"http://127.0.0.1:{port_of(listening)}/"

    yield serve
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def read_request(client: socket.socket) -> None:
    request = b""
    while not request.endswith(b"}"):
        request += client.recv(4096)


def status(code: int, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {code} It", "content-length: 0", *headers, "", ""]).encode()


def test_nobody_took_it_where_nobody_listens(monkeypatch):
    post = load(monkeypatch, f"http://{NOBODY}/")
    with pytest.raises(post.NotSent) as caught:
        post.post(VERDICT)
    assert caught.value.surely


@pytest.mark.parametrize(
    ("heads", "surely"),
    [
        ([status(503)] * 5, True),
        ([status(429), *[status(401)] * 4], True),
        ([status(500)] * 5, False),
        ([status(504), *[status(503)] * 4], False),
        ([BREAKS_OFF, *[status(503)] * 4], False),
        ([*[status(503)] * 4, b"no HTTP\r\n\r\n"], False),
        ([status(303, "location: /elsewhere")] * 5, False),
    ],
    ids=["unavailable", "not now", "failed", "gateway", "broken off once", "no HTTP at last", "elsewhere"],
)
def test_one_attempt_that_may_have_arrived_is_enough_not_to_be_sure(monkeypatch, answering, heads, surely):
    post = load(monkeypatch, answering(*heads))
    with pytest.raises(post.NotSent) as caught:
        post.post(VERDICT)
    assert caught.value.surely == surely


def test_an_attempt_that_is_taken_is_the_last(monkeypatch, answering):
    load(monkeypatch, answering(status(503), status(204))).post(VERDICT)


@pytest.mark.parametrize(
    "address", ["", "here:99", "http://", "http://here:x/", "http://here/a b", "ftp://here/"]
)
def test_what_is_no_address_ends_it_at_once(monkeypatch, address):
    with pytest.raises(SystemExit, match=r"^SEND_TO should be the address"):
        load(monkeypatch, address)
