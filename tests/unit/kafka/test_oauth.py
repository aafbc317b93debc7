"""Tokens are asked for as OAuth says, kept while they are good, and never taken from what is no token."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from aiokafka.conn import AIOKafkaConnection
from aiokafka.errors import KafkaConnectionError, SaslAuthenticationFailed

from streams.kafka import kafka_clients as access
from streams.kafka.oauth import ClientCredentialsProvider, TokenRefused, TokenUnavailable, token_provider
from streams.settings import KafkaSettings
from tests.support.certificates import Authority
from tests.support.clock import Clock
from tests.support.ports import NOBODY
from tests.support.token_endpoint import CLIENT, SECRET, Behaviour, TokenEndpoint

LIFE = 100


@pytest.fixture(scope="module")
def server() -> Iterator[TokenEndpoint]:
    with TokenEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
def endpoint(server: TokenEndpoint) -> TokenEndpoint:
    server.behaviour = Behaviour(lifetime=LIFE)
    server.asked.clear()
    return server


def settings(endpoint: TokenEndpoint, secret: str = SECRET, **oauth: Any) -> KafkaSettings:
    values = {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "OAUTHBEARER",
        "sasl_username": CLIENT,
        "sasl_password": secret,
        "oauth": {"token_url": endpoint.url, **oauth},
    }
    return KafkaSettings.model_validate(values)


async def test_a_client_asks_with_its_name_and_secret_and_for_its_scope(endpoint):
    token = await ClientCredentialsProvider(settings(endpoint, scope="kafka read")).token()
    assert token.count(".") == 2
    (asked,) = endpoint.asked
    assert asked.form == {"grant_type": ["client_credentials"], "scope": ["kafka read"]}
    assert SECRET not in repr(asked)


async def test_a_token_is_kept_for_four_fifths_of_its_life(endpoint):
    clock = Clock()
    provider = ClientCredentialsProvider(settings(endpoint), clock)
    first = await provider.token()
    clock.now += 0.8 * LIFE - 1
    assert await provider.token() == first
    clock.now += 2
    await provider.token()
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize(
    ("reported", "times"),
    [("100", 1), (100.5, 1), (None, 2), ("soon", 2), (-5, 2), (0, 2), ([], 2), (float("inf"), 2), (True, 2)],
)
async def test_what_does_not_say_how_long_it_is_good_for_is_asked_for_each_time(reported, times, endpoint):
    endpoint.behaviour = Behaviour(fields={"expires_in": reported})
    clock = Clock()
    provider = ClientCredentialsProvider(settings(endpoint), clock)
    await provider.token()
    clock.now += 1
    await provider.token()
    assert len(endpoint.asked) == times


async def test_a_token_that_is_forgotten_is_asked_for_again(endpoint):
    provider = ClientCredentialsProvider(settings(endpoint), Clock())
    await provider.token()
    provider.forget()
    await provider.token()
    assert len(endpoint.asked) == 2


async def test_an_endpoint_failing_is_asked_once_a_second_and_reported_of_once(endpoint, worker_log):
    clock = Clock()
    provider = ClientCredentialsProvider(settings(endpoint), clock)
    await provider.token()
    clock.now += LIFE
    endpoint.behaviour = Behaviour(status=503)
    for _ in range(30):
        with pytest.raises(TokenUnavailable, match="answers with status 503"):
            await provider.token()
        clock.now += 0.1
    assert 3 <= len(endpoint.asked) - 1 <= 4
    assert worker_log.text.count("kafka_token_unavailable") == 1
    endpoint.behaviour = Behaviour()
    clock.now += 1
    assert await provider.token()


async def test_the_first_failure_is_for_whoever_connects_to_tell(endpoint, worker_log):
    endpoint.behaviour = Behaviour(status=503)
    with pytest.raises(KafkaConnectionError):
        await ClientCredentialsProvider(settings(endpoint)).token()
    assert "kafka_token_unavailable" not in worker_log.text


PRIVATE = "what it was sent"


@pytest.mark.parametrize(
    ("behaviour", "error", "reported"),
    [
        ({"status": 400, "body": b'{"error": "invalid_scope"}'}, TokenRefused, f"{CLIENT!r}: invalid_scope"),
        ({"status": 403, "body": b"<html>"}, TokenRefused, f"{CLIENT!r}: status 403"),
        ({"status": 400, "body": b'{"error": "what it was sent"}'}, TokenRefused, ": status 400"),
        (
            {"status": 401, "body": b'{"error": "invalid_client", "error_description": "what it was sent"}'},
            TokenRefused,
            ": invalid_client",
        ),
        ({"status": 429}, TokenUnavailable, "answers with status 429"),
        ({"status": 307, "headers": {"location": "/token"}}, TokenUnavailable, "answers with status 307"),
        ({"body": b"what it was sent"}, TokenRefused, "answers without a token"),
        ({"body": b"[" * 100_000}, TokenRefused, "answers without a token"),
        ({"body": b'["what it was sent"]'}, TokenRefused, "answers without a token"),
        ({"body": b" " * 300_000}, TokenRefused, "answers with too many bytes"),
        ({"fields": {"access_token": 7}}, TokenRefused, "answers without a token"),
        ({"fields": {"access_token": "what\x01auth=Bearer x"}}, TokenRefused, "answers without a token"),
        ({"fields": {"access_token": ""}}, TokenRefused, "answers without a token"),
        ({"fields": {"token_type": "mac"}}, TokenRefused, "not a bearer token"),
        ({"fields": {"token_type": 1}}, TokenRefused, "not a bearer token"),
        ({"drip": 0.05}, TokenUnavailable, "does not answer within 0.3 s"),
    ],
)
async def test_what_is_not_a_token_is_a_line_that_quotes_nothing(behaviour, error, reported, endpoint):
    endpoint.behaviour = Behaviour(**behaviour)
    began = time.monotonic()
    with pytest.raises(error) as raised:
        await ClientCredentialsProvider(
            settings(endpoint), timeout_seconds=0.3 if "drip" in behaviour else 20
        ).token()
    message = raised.value.args[0]
    assert reported in message
    assert f"{endpoint.url} (setting kafka.oauth.token_url)" in message
    assert all(private not in message for private in (PRIVATE, SECRET, "\n"))
    assert time.monotonic() - began < 10


async def test_an_endpoint_is_trusted_by_the_authority_that_the_brokers_are_trusted_by(tmp_path):
    authority, stranger = Authority(tmp_path, "authority"), Authority(tmp_path, "stranger")
    with TokenEndpoint(authority.issue("tokens")) as secure:
        known = settings(secure).model_copy(update={"ssl_cafile": authority.file})
        assert await ClientCredentialsProvider(known).token()
        unknown = settings(secure).model_copy(update={"ssl_cafile": stranger.file})
        with pytest.raises(TokenRefused, match=r"not trusted by kafka\.ssl_cafile "):
            await ClientCredentialsProvider(unknown).token()


async def test_nobody_there_is_a_line(endpoint):
    provider = ClientCredentialsProvider(settings(endpoint, token_url=f"http://{NOBODY}/token"))
    with pytest.raises(TokenUnavailable, match="cannot be reached: "):
        await provider.token()


async def test_no_proxy_of_the_environment_sees_the_secret(endpoint, monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://{NOBODY}")
        monkeypatch.setenv(name.lower(), f"http://{NOBODY}")
    assert await ClientCredentialsProvider(settings(endpoint)).token()


def test_a_token_serves_several_event_loops(endpoint):
    provider = ClientCredentialsProvider(settings(endpoint))
    assert asyncio.run(provider.token()) == asyncio.run(provider.token())


def test_all_clients_of_a_process_share_a_provider_and_another_secret_has_its_own(endpoint):
    assert token_provider(settings(endpoint)) is token_provider(settings(endpoint))
    assert token_provider(settings(endpoint)) is not token_provider(settings(endpoint, secret="x"))
    assert token_provider(settings(endpoint)) is not token_provider(settings(endpoint, scope="x"))


async def test_extensions_go_with_the_token(endpoint):
    extensions = {"logicalCluster": "lkc-1", "identityPoolId": "pool-1"}
    authenticator = _authenticator(ClientCredentialsProvider(settings(endpoint, extensions=extensions)))
    message, _ = await authenticator.step(None)
    assert message.startswith(b"n,,\x01auth=Bearer ")
    assert message.endswith(b"\x01logicalCluster=lkc-1\x01identityPoolId=pool-1\x01\x01")
    assert await authenticator.step(b"") is None


@pytest.mark.parametrize(
    ("answer", "reported"),
    [
        ({"status": "invalid_token"}, "invalid_token"),
        ({"status": "what it was sent"}, "no reason given"),
        ({}, "no reason given"),
        (["invalid_token"], "no reason given"),
    ],
)
async def test_a_token_that_the_broker_refuses_is_an_error_and_is_not_sent_again(answer, reported, endpoint):
    provider = ClientCredentialsProvider(settings(endpoint))
    authenticator = _authenticator(provider)
    await authenticator.step(None)
    with pytest.raises(SaslAuthenticationFailed, match=rf"does not accept the token \({reported}\)"):
        await authenticator.step(json.dumps(answer).encode())
    await provider.token()
    assert len(endpoint.asked) == 2


def _authenticator(provider: ClientCredentialsProvider) -> Any:
    """Give what a connection of aiokafka enters with."""
    assert access  # its import patches aiokafka
    connection = AIOKafkaConnection.__new__(AIOKafkaConnection)
    connection._sasl_oauth_token_provider = provider
    return connection.authenticator_oauth()
