"""Credentials of the clients of Kafka and whom they trust, in aiokafka's terms and in Faust's."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

from aiokafka.conn import collect_hosts

from streams.kafka import oauth_patch
from streams.kafka.oauth import token_provider
from streams.settings import KafkaSettings, show_certificate, trusting

if TYPE_CHECKING:
    from faust.auth import OAuthCredentials, SASLCredentials, SSLCredentials

oauth_patch.install()


def connection(settings: KafkaSettings) -> dict[str, Any]:
    """Give the arguments that aiokafka's clients have in common; raises WrongSettings for bad TLS files."""
    arguments: dict[str, Any] = {
        "bootstrap_servers": settings.bootstrap_servers,
        "security_protocol": settings.security_protocol,
    }
    if context := _ssl_context(settings):
        arguments["ssl_context"] = context
    if settings.security_protocol.startswith("SASL"):
        arguments["sasl_mechanism"] = settings.sasl_mechanism
        if settings.oauth:
            arguments["sasl_oauth_token_provider"] = token_provider(settings.oauth)
        else:
            arguments["sasl_plain_username"] = settings.sasl_username or ""
            arguments["sasl_plain_password"] = _password(settings)
    return arguments


def faust_broker_urls(settings: KafkaSettings) -> list[str]:
    """Give the bootstrap servers as Faust's ``broker`` option takes them."""
    return [f"kafka://{address(host, port)}" for host, port, _ in collect_hosts(settings.bootstrap_servers)]


def faust_broker_credentials(
    settings: KafkaSettings,
) -> SASLCredentials | OAuthCredentials | SSLCredentials | None:
    """Give Faust's ``broker_credentials`` for the same settings; raises WrongSettings as connection does."""
    # Not at the top: Faust and its HTTP client take a quarter of a second, which no command needs.
    from faust.auth import OAuthCredentials, SASLCredentials, SSLCredentials  # noqa: PLC0415

    context = _ssl_context(settings)
    if not settings.security_protocol.startswith("SASL"):
        return SSLCredentials(context) if context else None
    if settings.oauth:
        return OAuthCredentials(oauth_cb=token_provider(settings.oauth), ssl_context=context)
    return SASLCredentials(
        username=settings.sasl_username,
        password=_password(settings),
        mechanism=settings.sasl_mechanism,
        ssl_context=context,
    )


def address(host: str, port: int) -> str:
    """Write a host and a port as one, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def who(settings: KafkaSettings) -> str:
    """Name for people as whom the settings enter, and how; without any secret."""
    name = f"client {settings.oauth.client_id!r}" if settings.oauth else f"user {settings.sasl_username!r}"
    return f"{name} with {settings.security_protocol} {settings.sasl_mechanism}"


def _password(settings: KafkaSettings) -> str:
    return settings.sasl_password.get_secret_value() if settings.sasl_password else ""


def _ssl_context(settings: KafkaSettings) -> ssl.SSLContext | None:
    if "SSL" not in settings.security_protocol:
        return None
    context = trusting("kafka.ssl_cafile", settings.ssl_cafile)
    if settings.ssl_certfile and settings.ssl_keyfile:
        certificate = ("kafka.ssl_certfile", settings.ssl_certfile)
        key = ("kafka.ssl_keyfile", settings.ssl_keyfile)
        show_certificate(context, certificate, key, settings.ssl_key_password)
    return context
