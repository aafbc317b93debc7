"""The settings become the arguments of the clients, and wrong files are one line."""

from pathlib import Path

import pytest
from faust.types.auth import AuthProtocol

from streams.kafka.clients import connection, faust_broker_credentials, faust_broker_urls
from streams.settings import KafkaSettings, WrongSettings

SASL = {"sasl_username": "judge", "sasl_password": "secret"}


def _settings(**values: object) -> KafkaSettings:
    return KafkaSettings.model_validate(values)


def test_plain_text_needs_nothing_but_the_servers() -> None:
    settings = _settings(bootstrap_servers="a:1,b:2")
    assert connection(settings) == {"bootstrap_servers": "a:1,b:2", "security_protocol": "PLAINTEXT"}
    assert sorted(faust_broker_urls(settings)) == ["kafka://a:1", "kafka://b:2"]
    assert faust_broker_credentials(settings) is None


@pytest.mark.parametrize(("protocol", "encrypted"), [("SASL_PLAINTEXT", False), ("SASL_SSL", True)])
def test_sasl_is_the_same_for_all_clients(protocol: str, encrypted: bool) -> None:
    settings = _settings(security_protocol=protocol, **SASL)
    arguments, credentials = connection(settings), faust_broker_credentials(settings)
    assert arguments["sasl_plain_password"] == credentials.password == "secret"
    assert arguments["sasl_mechanism"] == credentials.mechanism.value == "SCRAM-SHA-512"
    assert ("ssl_context" in arguments) == encrypted
    assert credentials.protocol == AuthProtocol(protocol)


def test_tls_alone_verifies_the_server() -> None:
    context = connection(_settings(security_protocol="SSL"))["ssl_context"]
    assert context.check_hostname


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_certificate_file_that_cannot_be_used_is_a_wrong_setting(
    tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "ca.pem"
    if content:
        file.write_text(content)
    with pytest.raises(WrongSettings, match=r"kafka\.ssl_cafile"):
        connection(_settings(security_protocol="SSL", ssl_cafile=file))
