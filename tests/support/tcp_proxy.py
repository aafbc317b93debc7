"""A TCP proxy that makes the network fail: slow, cut in mid-request, half open, refusing, restored.

It forwards bytes and knows nothing of Kafka; it stands before a real broker.
"""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from streams.embedded.broker_properties import LOOPBACK
from tests.support.ports import hold_port, port_of

_CHUNK = 16 * 1024
_CHUNKS_ON_THEIR_WAY = 256
_CALL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Conditions:
    """How the proxy treats bytes: seconds on the way, bytes a second, or nothing forwarded."""

    latency: float = 0.0
    bandwidth: float = float("inf")
    silent: bool = False


class TcpProxy:
    """A proxy in a thread of its own: ``with TcpProxy() as proxy: proxy.target = "host:port"``.

    Its own address is known as soon as it is entered, before there is anything to forward to.
    """

    def __init__(self) -> None:
        self.target = ""
        self.bytes_forwarded = 0
        self._conditions = Conditions()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tcp-proxy", daemon=True)
        self._held = hold_port()  # refusing, it still comes back where it was
        self._address = (LOOPBACK, port_of(self._held))
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """Where clients connect, as host:port."""
        host, port = self._address
        return f"{host}:{port}"

    @property
    def connections(self) -> int:
        """How many connections are open through the proxy."""
        return len(self._tasks)

    def slow(self, latency: float = 0.0, bandwidth: float = float("inf")) -> None:
        """Delay all bytes by ``latency`` seconds each way and let ``bandwidth`` of them through a second."""
        self._conditions = Conditions(latency, bandwidth)

    def half_open(self) -> None:
        """Accept and keep connections, take their bytes, and forward nothing in either direction."""
        self._conditions = Conditions(silent=True)

    def cut(self) -> None:
        """Reset every open connection, in mid-request if there is one; new ones are accepted."""
        self._call(self._cut())

    def refuse(self) -> None:
        """Reset every open connection and refuse new ones."""
        self._call(self._refuse())

    def restore(self) -> None:
        """Forward as a good network does; connections that were made half open are reset."""
        was_silent, self._conditions = self._conditions.silent, Conditions()
        self._call(self._restore(reset=was_silent))

    def __enter__(self) -> Self:
        self._thread.start()
        self._call(self._listen())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._call(self._refuse())
        self._held.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CALL_SECONDS)
        self._loop.close()

    def _call(self, action: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(action, self._loop).result(_CALL_SECONDS)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, *self._address)

    async def _refuse(self) -> None:
        if self._server:
            self._server.close()
            self._server = None
        await self._cut()

    async def _restore(self, *, reset: bool) -> None:
        if reset:
            await self._cut()
        if not self._server:
            await self._listen()

    async def _cut(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.CancelledError):
            # Cancelled by cut(): ended as a connection, which is no failure of the server.
            pass
        finally:
            _reset(writer)
            self._tasks.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = self.target.rpartition(":")
        upstream_reader, upstream_writer = await asyncio.open_connection(host, int(port))
        directions = [
            asyncio.create_task(self._forward(reader, upstream_writer)),
            asyncio.create_task(self._forward(upstream_reader, writer)),
        ]
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)
            _reset(upstream_writer)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one direction; what is on its way does not keep the next chunk from being sent."""
        on_its_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_CHUNKS_ON_THEIR_WAY)
        async with asyncio.TaskGroup() as both:
            both.create_task(self._deliver(on_its_way, writer))
            while chunk := await reader.read(_CHUNK):
                conditions = self._conditions
                if conditions.silent:
                    continue
                await asyncio.sleep(len(chunk) / conditions.bandwidth)
                await on_its_way.put((self._loop.time() + conditions.latency, chunk))
            await on_its_way.put((0, b""))

    async def _deliver(
        self, on_its_way: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter
    ) -> None:
        due, chunk = await on_its_way.get()
        while chunk:
            await asyncio.sleep(max(0.0, due - self._loop.time()))
            writer.write(chunk)
            await writer.drain()
            self.bytes_forwarded += len(chunk)
            due, chunk = await on_its_way.get()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with a reset, as a connection that breaks does, so that nothing is left to be delivered."""
    with contextlib.suppress(OSError):
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()
