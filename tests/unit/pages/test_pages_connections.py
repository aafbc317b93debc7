"""Clients hold no more connections than allowed, and none for longer than it gets on."""

import asyncio
import socket

import pytest
from aiohttp import ClientSession
from prometheus_client import CollectorRegistry

from streams.observability.health import Health
from streams.settings import WebSettings
from streams.web import create_web_app, serve
from streams.web.web_server import Connections
from tests.support.clock import Clock


class Transport:
    def __init__(self) -> None:
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True


class End:
    """The server's end of a connection."""

    def __init__(self) -> None:
        self.transport: Transport | None = Transport()


@pytest.fixture
def connections(clock: Clock) -> Connections:
    return Connections(End, max_connections=3, idle_timeout=30, clock=clock)


def test_the_quietest_makes_room_when_there_are_too_many(connections, clock):
    ends = []
    for _ in range(3):
        clock.now += 1
        ends.append(connections.open())
    connections.touch(ends[0])
    newest = connections.open()
    assert [end.transport.aborted for end in (*ends, newest)] == [False, True, False, False]


def test_one_that_sends_no_whole_request_is_cut_off(connections, clock):
    slow, busy = connections.open(), connections.open()
    clock.now += 20
    connections.touch(busy)
    clock.now += 20
    connections.sweep()
    assert (slow.transport.aborted, busy.transport.aborted) == (True, False)


def test_one_whose_request_is_at_work_is_left_alone_and_has_its_patience_anew(connections, clock):
    ends = [connections.open() for _ in range(3)]
    with connections.busy(ends[0]):
        clock.now += 40
        connections.sweep()
        assert [end.transport.aborted for end in ends] == [False, True, True]
        others = [connections.open() for _ in range(4)]
        assert [end.transport.aborted for end in others] == [True, True, False, False]
        assert not ends[0].transport.aborted
    clock.now += 20
    connections.sweep()
    assert not ends[0].transport.aborted
    clock.now += 20
    connections.sweep()
    assert ends[0].transport.aborted


def test_those_that_are_gone_take_no_room(connections, clock):
    gone, there = connections.open(), connections.open()
    gone.transport = None
    clock.now += 1
    connections.sweep()
    assert list(connections._heard_at) == [there]
    connections.touch(gone)
    assert list(connections._heard_at) == [there]


async def test_a_probe_gets_in_however_many_connections_are_held(monkeypatch):
    monkeypatch.setattr(Connections.__init__, "__defaults__", (8, 30.0, asyncio.get_running_loop().time))
    pages = create_web_app(Health(180, 10), CollectorRegistry())
    held: list[socket.socket] = []
    async with serve(pages, WebSettings(host="127.0.0.1", port=0)) as port:
        try:
            for _ in range(30):
                held.append(socket.create_connection(("127.0.0.1", port)))
                held[-1].sendall(b"GET / HT")
                await asyncio.sleep(0)
            async with (
                ClientSession() as session,
                session.get(f"http://127.0.0.1:{port}/healthz") as response,
            ):
                assert response.status == 200
        finally:
            for each in held:
                each.close()
