"""A Kafka that asks who its clients are: who may enter works, and who may not is told why, once and in time.

In no case does a secret stand in what is written or logged.
"""

import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import psutil
import pytest

from schemas import ChatbotAnswer, Codec
from streams.kafka import oauth
from streams.kafka.kafka_clients import ServiceUnreachable, open_consumer
from streams.kafka.topics import Topics, create_topics
from streams.observability.failures import EXIT_UNREACHABLE
from streams.settings import KafkaSettings, Settings
from tests.support.brokers import isolated_settings, unique_prefix
from tests.support.certificates import Issued
from tests.support.commands import truthgate, truthgate_here
from tests.support.ledger import outgoing, read_until_settled, sample_answers
from tests.support.records import eventually, produce
from tests.support.secure import (
    EXPIRED,
    MISNAMED,
    MUTUAL,
    PASSWORD,
    SecureCluster,
    secrets_in_files,
    secure_cluster,
)
from tests.support.token_endpoint import SECRET, Behaviour
from tests.support.workers import Worker, changed, environment

#: A refusal is no time-out: what a process needs beside it is its start.
COMMAND_SECONDS, WORKER_SECONDS = 10.0, 30.0
#: How a broker whose sessions end with their tokens is gone through several times in a test.
TOKEN_SECONDS = 4

Access = Callable[[SecureCluster], KafkaSettings]

ACCESSES: dict[str, Access] = {
    "SCRAM over TLS": SecureCluster.scram,
    "certificates both ways": SecureCluster.mutual,
    "tokens over TLS": SecureCluster.by_token,
}


def foreign_client(cluster: SecureCluster) -> KafkaSettings:
    issued = cluster.stranger.issue("foreign-client")
    return cluster.mutual(ssl_certfile=issued.certificate, ssl_keyfile=issued.key)


def expired_client(cluster: SecureCluster) -> KafkaSettings:
    issued = cluster.authority.issue("expired-client", expired=True)
    return cluster.mutual(ssl_certfile=issued.certificate, ssl_keyfile=issued.key)


#: Settings that do not open the door, what the one line says of it, and how the token endpoint behaves.
REFUSED: dict[str, tuple[Access, str, Behaviour]] = {
    "wrong password": (
        lambda c: c.scram(sasl_password=f"{PASSWORD}!"),
        "refuses user 'judge' with SASL_SSL SCRAM-SHA-512: SaslAuthenticationFailed",
        Behaviour(),
    ),
    "unknown user": (
        lambda c: c.scram(sasl_username="nobody"),
        "refuses user 'nobody' with SASL_SSL SCRAM-SHA-512: SaslAuthenticationFailed",
        Behaviour(),
    ),
    "another mechanism": (
        lambda c: c.scram(sasl_mechanism="PLAIN"),
        "refuses user 'judge' with SASL_SSL PLAIN: UnsupportedSaslMechanismError",
        Behaviour(),
    ),
    "expired server certificate": (
        lambda c: c.scram(EXPIRED),
        "authority.pem: certificate has expired",
        Behaviour(),
    ),
    "certificate of another host": (
        lambda c: c.scram(MISNAMED),
        "certificate is not valid for '127.0.0.1'",
        Behaviour(),
    ),
    "unknown authority": (
        lambda c: c.scram(ssl_cafile=c.stranger.file),
        "stranger.pem: unable to get local issuer certificate",
        Behaviour(),
    ),
    "authorities of the system": (
        lambda c: c.scram(ssl_cafile=None),
        "the system's authorities (kafka.ssl_cafile is not set): unable to get local issuer certificate",
        Behaviour(),
    ),
    "no client certificate": (
        lambda c: c.mutual(ssl_certfile=None, ssl_keyfile=None),
        "refuses a client without certificate (kafka.ssl_certfile is not set): ",
        Behaviour(),
    ),
    "foreign client certificate": (
        foreign_client,
        "foreign-client.crt: sslv3 alert certificate unknown",
        Behaviour(),
    ),
    "expired client certificate": (
        expired_client,
        "expired-client.crt: sslv3 alert certificate unknown",
        Behaviour(),
    ),
    "no TLS": (
        lambda c: c.scram(security_protocol="SASL_PLAINTEXT", ssl_cafile=None),
        "speaks SASL_SSL, not SASL_PLAINTEXT (setting kafka.security_protocol)",
        Behaviour(),
    ),
    "TLS to a listener without": (
        lambda c: c.scram(bootstrap_servers=c.kafka.bootstrap_servers),
        "speaks PLAINTEXT, not SASL_SSL (setting kafka.security_protocol)",
        Behaviour(),
    ),
    "SASL to a listener without": (
        lambda c: c.scram(
            bootstrap_servers=c.kafka.bootstrap_servers, security_protocol="SASL_PLAINTEXT", ssl_cafile=None
        ),
        "speaks PLAINTEXT, not SASL_PLAINTEXT (setting kafka.security_protocol)",
        Behaviour(),
    ),
    "neither": (
        lambda c: KafkaSettings(bootstrap_servers=c.scram().bootstrap_servers),
        "speaks SASL_SSL, not PLAINTEXT (setting kafka.security_protocol)",
        Behaviour(),
    ),
    "TLS without SASL": (
        lambda c: c.mutual(bootstrap_servers=c.scram().bootstrap_servers),
        "speaks SASL_SSL, not SSL (setting kafka.security_protocol)",
        Behaviour(),
    ),
    "SASL to a listener that takes certificates": (
        lambda c: c.scram(MUTUAL, ssl_certfile=c.client.certificate, ssl_keyfile=c.client.key),
        "speaks SSL, not SASL_SSL (setting kafka.security_protocol)",
        Behaviour(),
    ),
    "plain to a listener that takes certificates": (
        lambda c: KafkaSettings(bootstrap_servers=c.mutual().bootstrap_servers),
        "speaks SSL, not PLAINTEXT (setting kafka.security_protocol)",
        Behaviour(),
    ),
    "wrong client secret": (
        lambda c: c.by_token(sasl_password=f"{SECRET}!"),
        "/token (setting kafka.oauth.token_url) refuses client 'truthgate worker': invalid_client",
        Behaviour(),
    ),
    "a token for somebody else": (
        SecureCluster.by_token,
        "with SASL_SSL OAUTHBEARER: SaslAuthenticationFailed: the broker does not accept the token",
        Behaviour(audience="somebody else"),
    ),
    "an expired token": (
        SecureCluster.by_token,
        "the broker does not accept the token (invalid_token)",
        Behaviour(lifetime=-60),
    ),
    "a token endpoint in trouble": (
        SecureCluster.by_token,
        "no token: https://127.0.0.1:",
        Behaviour(status=503),
    ),
    "a token endpoint that does not come to an end": (
        SecureCluster.by_token,
        "does not answer within 5 s",
        Behaviour(drip=0.1),
    ),
}

#: Those that a worker is tried with too, which takes a process.
REFUSED_WORKERS = (
    "SASL to a listener without",
    "TLS to a listener without",
    "wrong password",
    "expired server certificate",
    "unknown authority",
    "no client certificate",
    "wrong client secret",
    "a token for somebody else",
)


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureCluster]:
    with secure_cluster(tmp_path_factory.mktemp("secure")) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
async def nothing_stays_open() -> AsyncIterator[None]:
    """End the loop only when TLS has taken leave: aiokafka does not wait for that at its first connection.

    What is still open then would be reported as never closed, in this test or a later one.
    """
    before = _client_sockets()
    yield
    await eventually(lambda: _client_sockets() <= before, "the connections are closed")


@pytest.fixture(autouse=True)
def the_endpoint_behaves(secure: SecureCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test see what another has told the endpoint, or tokens that it has got."""
    secure.tokens.behaviour = Behaviour()
    monkeypatch.setattr(oauth, "_providers", {})


def _client_sockets() -> set[object]:
    # The token endpoint has sockets in this process too; they stay as long as its clients' do.
    return {each.laddr for each in psutil.Process().net_connections("tcp") if each.raddr}


def _settings(access: KafkaSettings, folder: Path) -> Settings:
    """Give settings of a worker with one scoring process that logs all it can."""
    own = isolated_settings(access.bootstrap_servers, folder, unique_prefix())
    names = {"topic_prefix": own.kafka.topic_prefix, "consumer_group": own.kafka.consumer_group}
    quick = own.model_copy(update={"kafka": access.model_copy(update=names)})
    return changed(
        quick, scoring={"processes": 1}, log={"level": "debug"}, documents={"wait_timeout_seconds": 0.5}
    )


def _variables(settings: Settings, folder: Path) -> dict[str, str]:
    return environment(settings) | secrets_in_files(settings.kafka, folder)


def _assert_no_secret(*told: str) -> None:
    for text in told:
        assert PASSWORD not in text
        assert SECRET not in text
        assert "eyJ" not in text  # with which every token begins


@pytest.mark.parametrize("access", ACCESSES.values(), ids=ACCESSES)
def test_commands_enter_with_secrets_from_files(
    access: Access, secure: SecureCluster, tmp_path: Path
) -> None:
    variables = _variables(_settings(access(secure), tmp_path), tmp_path)
    for arguments in (("topics", "create"), ("topics", "check"), ("dead-letters", "list"), ("paused",)):
        done = truthgate_here(*arguments, environment=variables)
        assert done.returncode == 0, done.stderr
        _assert_no_secret(done.stdout, done.stderr)


@pytest.mark.parametrize("access", ACCESSES.values(), ids=ACCESSES)
async def test_a_worker_enters_with_secrets_from_files_and_logs_none(
    access: Access, secure: SecureCluster, tmp_path: Path
) -> None:
    settings = _settings(access(secure), tmp_path)
    await create_topics(settings)
    answers = sample_answers(6, run="secure")
    await _publish(settings, answers)
    with Worker(settings, tmp_path, secrets=_variables(settings, tmp_path)) as worker:
        worker.wait_ready()
        ledger = await read_until_settled(settings, answers)
        assert worker.terminate() == 0
        log = worker.log
    ledger.assert_settled(answers)
    _assert_no_secret(log)


@pytest.mark.parametrize(("access", "told", "behaviour"), REFUSED.values(), ids=REFUSED)
def test_who_is_refused_is_told_in_one_line_and_at_once(
    access: Access, told: str, behaviour: Behaviour, secure: SecureCluster, tmp_path: Path
) -> None:
    secure.tokens.behaviour = behaviour
    variables = _variables(_settings(access(secure), tmp_path), tmp_path)
    _assert_refused(lambda: truthgate_here("topics", "check", environment=variables), told, COMMAND_SECONDS)


@pytest.mark.parametrize("case", REFUSED_WORKERS)
def test_a_worker_that_is_refused_says_so_in_one_line_of_json_and_ends(
    case: str, secure: SecureCluster, tmp_path: Path
) -> None:
    access, told, secure.tokens.behaviour = REFUSED[case]
    variables = _variables(_settings(access(secure), tmp_path), tmp_path)
    done = _assert_refused(lambda: truthgate("worker", environment=variables), told, WORKER_SECONDS)
    line = json.loads(done.stderr)
    assert (line["event"], line["exit_code"]) == ("worker_failed", EXIT_UNREACHABLE)
    assert told in line["reason"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("topics", "create"),
        ("tail",),
        ("dead-letters", "list"),
        ("dead-letters", "replay"),
        ("paused",),
        ("pause", "--reason", "why"),
        ("publish-documents", "--delete", "d-1"),
    ],
    ids=" ".join,
)
def test_every_command_ends_in_the_same_way(
    arguments: tuple[str, ...], secure: SecureCluster, tmp_path: Path
) -> None:
    access, told, _ = REFUSED["wrong password"]
    variables = _variables(_settings(access(secure), tmp_path), tmp_path)
    _assert_refused(lambda: truthgate_here(*arguments, environment=variables), told, COMMAND_SECONDS)


def _assert_refused(
    run: Callable[[], CompletedProcess[str]], told: str, seconds: float
) -> CompletedProcess[str]:
    began = time.monotonic()
    done = run()
    assert time.monotonic() - began < seconds
    assert (done.returncode, done.stdout) == (EXIT_UNREACHABLE, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    _assert_no_secret(done.stderr)
    return done


async def test_a_client_certificate_is_read_once(secure: SecureCluster, tmp_path: Path) -> None:
    certificate, key = tmp_path / "client.crt", tmp_path / "client.key"
    settings = secure.mutual(ssl_certfile=certificate, ssl_keyfile=key)

    def write(issued: Issued) -> None:
        certificate.write_bytes(issued.certificate.read_bytes())
        key.write_bytes(issued.key.read_bytes())

    write(secure.authority.issue("good-client"))
    async with open_consumer(settings) as consumer:
        write(secure.stranger.issue("strange-client"))
        for connection in [*consumer._client._conns.values()]:
            connection.close()
        await consumer.topics()  # over a new connection, with the certificate that is in no file any more
    with pytest.raises(ServiceUnreachable):
        async with open_consumer(settings):
            pass


async def test_a_worker_outlives_its_tokens_and_trouble_with_their_endpoint(
    secure: SecureCluster, tmp_path: Path
) -> None:
    secure.tokens.behaviour = Behaviour(lifetime=TOKEN_SECONDS)
    settings = changed(
        _settings(secure.by_token(), tmp_path),
        kafka={"group_instance_id": "only"},
        flow={"session_timeout_seconds": 30},
    )
    await create_topics(settings)
    answers = sample_answers(30, run="tokens")
    with Worker(settings, tmp_path, secrets=_variables(settings, tmp_path)) as worker:
        worker.wait_ready()
        await _publish(settings, answers[:10])
        await read_until_settled(settings, answers[:10])
        asked = len(secure.tokens.asked)
        await eventually(lambda: len(secure.tokens.asked) > asked, "the worker asks for another token")
        secure.tokens.behaviour = Behaviour(status=503)
        await eventually(lambda: "kafka_token_unavailable" in worker.log, "the worker says that it gets none")
        secure.tokens.behaviour = Behaviour(lifetime=TOKEN_SECONDS)
        await _publish(settings, answers[10:])
        ledger = await read_until_settled(settings, answers)
        assert worker.terminate() == 0
        log = worker.log
    ledger.assert_settled(answers)
    assert "answers with status 503" in log
    _assert_no_secret(log)


async def _publish(settings: Settings, answers: list[ChatbotAnswer]) -> None:
    codec, topic = Codec(), Topics(settings.kafka.topic_prefix).answers
    await produce(settings.kafka, topic, [outgoing(answer, codec) for answer in answers])
