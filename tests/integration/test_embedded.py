"""The embedded cluster starts, keeps its data, survives a broker, and leaves no process behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from aiokafka.admin import NewTopic

from streams.embedded import BrokerFailed, EmbeddedKafka, cluster
from streams.embedded.broker_properties import LOOPBACK, free_ports
from streams.kafka.kafka_clients import open_admin, open_producer
from streams.settings import KafkaSettings
from tests.support.records import consume_count, produce

PARENT = """
import sys, time
from streams.embedded import EmbeddedKafka
kafka = EmbeddedKafka().start()
if sys.argv[1] == "paused":
    kafka.brokers[0].pause()
print(kafka.pids[0], flush=True)
time.sleep(600)
"""


def _settings(kafka: EmbeddedKafka) -> KafkaSettings:
    return KafkaSettings(bootstrap_servers=kafka.bootstrap_servers)


def _descendants(pid: int) -> set[int]:
    """The processes that ``pid`` leads a session of: the broker and its leash."""
    listed = subprocess.run(["ps", "-eo", "pid,sid,stat"], capture_output=True, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()[1:]]
    return {int(row[0]) for row in rows if int(row[1]) == pid and not row[2].startswith("Z")}


def _wait(condition: Callable[[], bool], what: str, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds:g} s: {what}"
        time.sleep(0.05)


def _pid(kafka: EmbeddedKafka, index: int = 0) -> int:
    pid = kafka.pids[index]
    assert pid
    return pid


@pytest.mark.parametrize("kept", [True, False])
def test_stopping_leaves_no_process_and_no_temporary_folder(tmp_path, kept):
    with EmbeddedKafka(data_dir=tmp_path if kept else None) as kafka:
        pid, folder = _pid(kafka), kafka.brokers[0].log_file.parent
        assert _descendants(pid) >= {pid}
    _wait(lambda: not _descendants(pid), "the broker's processes end")
    assert folder.exists() == kept


@pytest.mark.parametrize("state", ["running", "paused"])
def test_no_broker_outlives_a_parent_that_is_killed(tmp_path, state):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, state],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert parent.stdout
    with parent.stdout as output:
        pid = int(output.readline())
        assert _descendants(pid) >= {pid}
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    _wait(lambda: not _descendants(pid), "the broker dies with its parent")


async def test_data_survives_every_way_of_going_down(tmp_path):
    """Stopped, killed, and opened again by another instance: what was acknowledged is there."""
    with EmbeddedKafka(data_dir=tmp_path) as kafka:
        address, settings = kafka.bootstrap_servers, _settings(kafka)
        async with open_admin(settings) as admin:
            await admin.create_topics([NewTopic("kept", 1, 1)])
        await produce(settings, "kept", [b"one"])
        kafka.brokers[0].stop()
        assert kafka.pids == [None]
        kafka.start_broker(0)
        assert kafka.bootstrap_servers == address
        await produce(settings, "kept", [b"two"])
        kafka.brokers[0].kill()
        kafka.start_broker(0)
        await produce(settings, "kept", [b"three"])
    with EmbeddedKafka(data_dir=tmp_path) as kafka:
        records = await consume_count(_settings(kafka), "kept", 3)
    assert [record.value for record in records] == [b"one", b"two", b"three"]


async def test_three_brokers_go_on_without_one_of_them():
    with EmbeddedKafka(3) as kafka:
        settings = _settings(kafka)
        async with open_admin(settings) as admin:
            await admin.create_topics([NewTopic("replicated", 3, 3)])
            assert len((await admin.describe_cluster())["brokers"]) == 3
        for index in range(3):
            kafka.brokers[index].kill()
            await produce(settings, "replicated", [f"without {index}".encode()])
            kafka.start_broker(index)
            kafka.wait_in_sync()
        values = {record.value for record in await consume_count(settings, "replicated", 3)}
    assert values == {b"without 0", b"without 1", b"without 2"}


async def test_a_paused_broker_answers_again_when_resumed():
    with EmbeddedKafka() as kafka:
        settings = _settings(kafka)
        async with open_admin(settings) as admin:
            await admin.create_topics([NewTopic("paused", 1, 1)])
        async with open_producer(settings) as producer:
            await producer.send_and_wait("paused", b"before")
            kafka.brokers[0].pause()
            sending = await producer.send("paused", b"while paused")
            assert not sending.done()
            kafka.brokers[0].resume()
            await sending
        assert len(await consume_count(settings, "paused", 2)) == 2


def test_a_port_lost_to_another_process_is_replaced(monkeypatch):
    with socket.socket() as other:
        other.bind((LOOPBACK, 0))
        other.listen()
        taken, others = other.getsockname()[1], free_ports(2)
        choices = iter([[taken, *others]])
        monkeypatch.setattr(cluster, "free_ports", lambda count: next(choices, None) or free_ports(count))
        with EmbeddedKafka() as kafka:
            assert kafka.addresses != [f"{LOOPBACK}:{taken}"]
            assert kafka.pids != [None]


def test_a_broker_that_cannot_start_is_told_with_the_end_of_its_log():
    with pytest.raises(BrokerFailed, match=r"(?s)broker 0.*num.io.threads"):
        EmbeddedKafka(properties={"num.io.threads": "none"}).start()


async def test_clients_reach_it_at_another_address_of_the_machine():
    with EmbeddedKafka(host="127.0.0.2") as kafka:
        settings = _settings(kafka)
        assert kafka.bootstrap_servers.startswith("127.0.0.2:")
        async with open_admin(settings) as admin:
            (broker,) = (await admin.describe_cluster())["brokers"]
        assert f"{broker['host']}:{broker['port']}" == kafka.bootstrap_servers


def test_two_clusters_run_side_by_side():
    with EmbeddedKafka() as one, EmbeddedKafka() as other:
        assert one.bootstrap_servers != other.bootstrap_servers
        assert os.getsid(_pid(one)) != os.getsid(_pid(other))
