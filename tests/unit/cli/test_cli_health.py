"""``truthgate health`` asks the worker of its settings, and tells by its exit code."""

import asyncio
import socket
import subprocess

import pytest
from prometheus_client import CollectorRegistry

from streams.observability.failures import EXIT_UNREACHABLE
from streams.observability.health import Health
from streams.settings import WebSettings
from streams.web import create_web_app, serve
from tests.support.commands import truthgate_here
from tests.support.ports import NOBODY

LOOPBACK = "127.0.0.1"


async def asked(
    health: Health, *arguments: str, listens: str = LOOPBACK, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Serve a worker's pages and ask them by the command."""
    async with serve(create_web_app(health, CollectorRegistry()), WebSettings(host=listens, port=0)) as port:
        environment = {"TRUTHGATE_WEB__HOST": listens, "TRUTHGATE_WEB__PORT": str(port), **variables}
        return await asyncio.to_thread(truthgate_here, "health", *arguments, environment=environment)


@pytest.fixture
def health() -> Health:
    return Health(stall_timeout=180, kafka_timeout=10)


@pytest.mark.parametrize("listens", [LOOPBACK, "0.0.0.0", "::"])
async def test_a_worker_that_lives_is_healthy_before_it_is_ready(health, listens):
    done = await asked(health, listens=listens)
    assert (done.returncode, done.stdout) == (0, "ok\n")


async def test_one_that_waits_is_not_ready_and_says_for_what(health):
    done = await asked(health, "--ready")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "truthgate: the worker answers 503: waiting for the start\n"
    health.set_waiting_for(None)
    assert (await asked(health, "--ready")).returncode == 0


async def test_one_that_hangs_is_not_healthy_and_the_reason_is_told():
    done = await asked(Health(stall_timeout=-1, kafka_timeout=10))
    assert done.returncode == 1
    assert "the event loop has been blocked" in done.stderr


async def test_no_proxy_of_the_environment_is_asked_for_it(health):
    done = await asked(health, http_proxy=f"http://{NOBODY}", HTTP_PROXY=f"http://{NOBODY}")
    assert done.returncode == 0


def test_somebody_else_on_the_port_is_no_worker():
    with socket.create_server((LOOPBACK, 0)) as other:
        other.listen()
        port = str(other.getsockname()[1])

        def hang_up() -> None:
            connection, _ = other.accept()
            connection.sendall(b"SSH-2.0-other\r\n")
            connection.close()

        async def both() -> subprocess.CompletedProcess[str]:
            environment = {"TRUTHGATE_WEB__PORT": port}
            done, _ = await asyncio.gather(
                asyncio.to_thread(truthgate_here, "health", environment=environment),
                asyncio.to_thread(hang_up),
            )
            return done

        assert asyncio.run(both()).returncode == EXIT_UNREACHABLE
