"""The lifetime of a serving process: signals, heartbeat, and the watchdog that ends it."""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

import structlog
from aiokafka.errors import KafkaError

from schemas import RegistryUnreachable
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.observability.failures import (
    EXIT_INVALID_SETTINGS,
    EXIT_UNREACHABLE,
    InfrastructureFailure,
    exit_code,
    loggable_reason,
)
from streams.observability.health import Health
from streams.observability.logs import writes_json
from streams.settings import InvalidSettings, LogSettings

log = structlog.get_logger(__name__)

#: Seconds between heartbeats of the event loop.
_BEAT_SECONDS = 1.0
#: A thread of a process that runs wakes up sooner after its time, whatever the machine does.
_STOPPED_SECONDS = 10.0


def stop_signals(on_signal: Callable[[str], None]) -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set; ``on_signal`` is called with the signal's name."""
    stopping = asyncio.Event()

    def stop(number: signal.Signals) -> None:
        on_signal(number.name)
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop, number)
    return stopping


async def send_heartbeats(health: Health) -> None:
    """Record heartbeats of the event loop until cancelled."""
    while True:
        health.record_heartbeat()
        await asyncio.sleep(_BEAT_SECONDS)


async def wait_for_first(*waits: Awaitable[object]) -> None:
    """Wait until one of them has ended; the others are not cancelled."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


def failure_callback(on_failure: Callable[[BaseException], None]) -> Callable[[asyncio.Task[None]], None]:
    """Return a done callback for tasks that calls ``on_failure`` with an exception, if there is one."""

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            on_failure(error)

    return ended


def set_first_failure(failed: asyncio.Future[None], failure: BaseException) -> None:
    """End whoever waits for ``failed`` with a failure, unless an earlier one did."""
    if not failed.done():
        failed.set_exception(failure)


def as_infrastructure_failure(failure: BaseException) -> InfrastructureFailure:
    """Return the failure with its exit code and a reason that may be logged.

    The text of a library's exception may quote its input, so only its class and location are used.
    """
    match failure:
        case InfrastructureFailure():
            return failure
        case InvalidSettings():
            return InfrastructureFailure(str(failure), EXIT_INVALID_SETTINGS)
        case KafkaError():
            return InfrastructureFailure(f"Kafka does not work as needed: {type(failure).__name__}")
        case _:
            return InfrastructureFailure(loggable_reason(failure), exit_code(failure))


def failed_start(failure: Exception, settings: LogSettings) -> InfrastructureFailure:
    """Return a failure with its reason and exit code, for a line of the log; a full disk is one, for example.

    Raises InvalidSettings or ServiceUnreachable instead if a person reads the log: the command reports these.
    """
    if not isinstance(failure, InvalidSettings | ServiceUnreachable | RegistryUnreachable):
        return as_infrastructure_failure(failure)
    if not writes_json(settings):
        raise ServiceUnreachable(str(failure)) if isinstance(failure, RegistryUnreachable) else failure
    if isinstance(failure, InvalidSettings):
        return InfrastructureFailure("; ".join((str(failure), *failure.more)), EXIT_INVALID_SETTINGS)
    return InfrastructureFailure(str(failure), EXIT_UNREACHABLE)


def end_process(code: int) -> NoReturn:
    """End the process at once; output is flushed, but nothing is closed."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


@contextmanager
def watchdog(
    health: Health,
    interval: float,
    on_failure: Callable[[InfrastructureFailure], None],
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[None]:
    """Call ``on_failure`` with the first problem that :class:`Health` reports while the context is open.

    Kubernetes restarts a pod whose liveness probe fails; this does the same without probes, and if the event
    loop that would answer a probe hangs. ``interval`` is in seconds.

    A process that was stopped for a while (SIGSTOP, a frozen container or machine) gets another interval: it
    only looks blocked.
    """
    stopped = threading.Event()

    def watch() -> None:
        looked_at = clock()
        while not stopped.wait(interval):
            overrun = clock() - looked_at - interval
            looked_at += interval + overrun
            if overrun > _STOPPED_SECONDS:
                log.warning("process_continues", seconds=round(overrun))
            elif problem := health.failure():
                on_failure(problem)
                return

    threading.Thread(target=watch, name="watchdog", daemon=True).start()
    try:
        yield
    finally:
        stopped.set()
