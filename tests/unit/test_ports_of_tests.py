"""No test depends on a port that another process of this machine may have, such as another truthgate."""

import re
import socket
from pathlib import Path

import pytest

from streams.embedded.broker_properties import LOOPBACK
from streams.settings import Settings
from tests.support.brokers import isolated_settings
from tests.support.ports import NOBODY, hold_port, port_of
from tests.support.workers import environment

TESTS = Path(__file__).parents[1]
_NAMED = re.compile(r"(127\.0\.0\.1|localhost|\[::1\]|0\.0\.0\.0):[1-9]|\bport\W{1,4}[1-9]\d{3}")
#: What they name is read and never opened.
_ONLY_READ = {
    "test_addresses.py",
    "test_settings_errors.py",
    "test_cli_demo_port.py",
    "test_embedded_properties.py",
}


def test_no_test_names_a_port():
    files = [path for path in TESTS.rglob("*.py") if path.name not in _ONLY_READ]
    assert len(files) > 50
    named = [
        f"{path.relative_to(TESTS)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if _NAMED.search(line)
    ]
    assert named == []


def test_a_worker_of_a_test_takes_any_free_port(tmp_path):
    own = isolated_settings(NOBODY, tmp_path, "test.")
    assert environment(own)["TRUTHGATE_WEB__PORT"] == "0"
    with pytest.raises(AssertionError, match=r"web\.port 0"):
        environment(Settings())


def test_where_nobody_listens_a_connection_is_refused():
    host, port = NOBODY.split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))


def test_a_port_that_is_held_can_be_listened_on_again_and_refuses_meanwhile():
    with hold_port() as held:
        place = (LOOPBACK, port_of(held))
        for _ in range(2):
            with socket.create_server(place), socket.create_connection(place):
                pass
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(place)
