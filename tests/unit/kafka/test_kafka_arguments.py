"""The settings become the arguments of the clients, and wrong files are one line."""

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from faust.transport.drivers.aiokafka import credentials_to_aiokafka_auth
from faust.types.auth import AuthProtocol
from pydantic import ValidationError

from streams.kafka.kafka_clients import client_arguments, faust_broker_credentials, faust_broker_urls
from streams.settings import InvalidSettings, KafkaSettings
from tests.support.certificates import Authority

SASL = {"sasl_username": "judge", "sasl_password": "secret"}


def _settings(**values: object) -> KafkaSettings:
    return KafkaSettings.model_validate(values)


def test_plain_text_needs_nothing_but_the_servers():
    settings = _settings(bootstrap_servers="a:1,b:2")
    assert client_arguments(settings) == {"bootstrap_servers": "a:1,b:2", "security_protocol": "PLAINTEXT"}
    assert sorted(faust_broker_urls(settings)) == ["kafka://a:1", "kafka://b:2"]
    assert faust_broker_credentials(settings) is None


@pytest.mark.parametrize(("protocol", "encrypted"), [("SASL_PLAINTEXT", False), ("SASL_SSL", True)])
def test_sasl_is_the_same_for_all_clients(protocol, encrypted):
    settings = _settings(security_protocol=protocol, **SASL)
    arguments, credentials = client_arguments(settings), faust_broker_credentials(settings)
    assert arguments["sasl_plain_password"] == credentials.password == "secret"
    assert arguments["sasl_mechanism"] == credentials.mechanism.value == "SCRAM-SHA-512"
    assert ("ssl_context" in arguments) == encrypted
    assert credentials.protocol == AuthProtocol(protocol)


def test_tls_alone_verifies_the_server():
    context = client_arguments(_settings(security_protocol="SSL"))["ssl_context"]
    assert context.check_hostname


OAUTH = {
    "sasl_mechanism": "OAUTHBEARER",
    "sasl_username": "judge",
    "sasl_password": "secret",
    "oauth": {"token_url": "https://idp.example.com/token"},
}


@pytest.mark.parametrize(("protocol", "encrypted"), [("SASL_PLAINTEXT", False), ("SASL_SSL", True)])
def test_tokens_come_from_one_provider_for_all_clients(protocol, encrypted):
    settings = _settings(security_protocol=protocol, **OAUTH)
    arguments, credentials = client_arguments(settings), faust_broker_credentials(settings)
    assert arguments["sasl_oauth_token_provider"] is credentials.oauth_cb
    assert arguments["sasl_mechanism"] == credentials.mechanism.value == "OAUTHBEARER"
    assert credentials_to_aiokafka_auth(credentials).keys() >= {"sasl_oauth_token_provider", "ssl_context"}
    assert ("ssl_context" in arguments) == encrypted
    assert credentials.protocol == AuthProtocol(protocol)
    assert not {"sasl_plain_username", "sasl_plain_password"} & arguments.keys()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"security_protocol": "SASL_SSL"}, "needs sasl_username"),
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER"}, r"needs oauth\.token_url"),
        ({"security_protocol": "SASL_SSL", **OAUTH, "sasl_mechanism": "PLAIN"}, "oauth is only for"),
        ({"security_protocol": "SSL", **OAUTH}, "oauth is only for"),
        ({"security_protocol": "SASL_SSL", **OAUTH, "sasl_username": ""}, "needs sasl_username"),
        ({"security_protocol": "SASL_SSL", **OAUTH, "sasl_password": ""}, "needs sasl_username"),
        ({"ssl_key_password": "secret"}, "ssl_key_password is for"),
        ({"ssl_keyfile": "key.pem"}, "go together"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(values, message):
    with pytest.raises(ValidationError, match=message):
        _settings(**values)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("token_url", "idp.example.com/token"),
        ("token_url", "https://user:pass@idp.example.com/token"),
        ("token_url", ""),
        ("extensions", {"auth": "x"}),
        ("extensions", {"a b": "x"}),
        ("extensions", {"a": "x\x01auth=Bearer y"}),
    ],
)
def test_what_no_token_can_be_asked_for_with_is_refused(name, value):
    with pytest.raises(ValidationError, match=rf"oauth\.{name}"):
        _settings(security_protocol="SASL_SSL", **OAUTH | {"oauth": OAUTH["oauth"] | {name: value}})


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("ssl_cafile", None, "No such file or directory"),
        ("ssl_cafile", "no certificate", "no certificate or crl found"),
        ("ssl_certfile", None, "No such file or directory"),
        ("ssl_certfile", "no certificate", "not PEM, or encrypted with another password"),
        ("ssl_keyfile", None, "No such file or directory"),
        ("ssl_keyfile", "no key", "not PEM, or encrypted with another password"),
        ("ssl_keyfile", "another", "key values mismatch"),
    ],
)
def test_a_file_of_tls_that_cannot_be_used_is_a_wrong_setting_that_names_it(name, content, reason, tmp_path):
    authority, wrong = Authority(tmp_path, "authority"), tmp_path / "wrong.pem"
    issued = authority.issue("client")
    if content:
        wrong.write_text(authority.issue("another").key.read_text() if content == "another" else content)
    files = {
        "ssl_cafile": authority.file,
        "ssl_certfile": issued.certificate,
        "ssl_keyfile": issued.key,
        name: wrong,
    }
    with pytest.raises(
        InvalidSettings, match=rf"^kafka\.ssl_\w+ .*{wrong}( with \S+ \S+)? cannot be used: {reason}$"
    ) as raised:
        client_arguments(_settings(security_protocol="SSL", **files))
    assert f"kafka.{name} {wrong}" in str(raised.value)


@pytest.mark.parametrize("password", [None, "wrong", "right"])
def test_an_encrypted_key_is_opened_with_its_password_and_no_terminal_is_asked(password, tmp_path):
    authority = Authority(tmp_path, "authority")
    issued = authority.issue("client")
    key = load_pem_private_key(issued.key.read_bytes(), None)
    issued.key.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"right"))
    )
    settings = _settings(
        security_protocol="SSL",
        ssl_certfile=issued.certificate,
        ssl_keyfile=issued.key,
        ssl_key_password=password,
    )
    if password == "right":
        assert client_arguments(settings)["ssl_context"]
        return
    with pytest.raises(InvalidSettings, match="encrypted with another password") as raised:
        client_arguments(settings)
    assert "wrong" not in str(raised.value)
