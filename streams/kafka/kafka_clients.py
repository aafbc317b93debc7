"""Kafka clients: credentials, opening and closing with timeouts, and reasons of failed connections."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.conn import AIOKafkaConnection, collect_hosts
from aiokafka.errors import (
    AuthenticationFailedError,
    AuthenticationMethodNotSupported,
    IllegalSaslStateError,
    KafkaConnectionError,
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)
from aiokafka.protocol.metadata import MetadataRequest

from streams.kafka import header_names_patch
from streams.kafka import oauth as oauth_patch
from streams.kafka.connection_errors import certificate_error, error_line, find_tls_error
from streams.kafka.listener_probe import listener_protocol, may_mean_other_protocol
from streams.kafka.oauth import TokenRefused, TokenUnavailable, token_provider
from streams.settings import KafkaSettings, client_ssl_context, load_client_certificate

if TYPE_CHECKING:
    from faust.auth import OAuthCredentials, SASLCredentials, SSLCredentials

oauth_patch.install()


def client_arguments(settings: KafkaSettings) -> dict[str, Any]:
    """Return the common arguments of aiokafka's clients; raises InvalidSettings for unusable TLS files."""
    arguments: dict[str, Any] = {
        "bootstrap_servers": settings.bootstrap_servers,
        "security_protocol": settings.security_protocol,
    }
    if context := _ssl_context(settings):
        arguments["ssl_context"] = context
    if settings.security_protocol.startswith("SASL"):
        arguments["sasl_mechanism"] = settings.sasl_mechanism
        if settings.oauth:
            arguments["sasl_oauth_token_provider"] = token_provider(settings)
        else:
            arguments["sasl_plain_username"] = settings.sasl_username or ""
            arguments["sasl_plain_password"] = _password(settings)
    return arguments


def faust_broker_urls(settings: KafkaSettings) -> list[str]:
    """Return the bootstrap servers for Faust's ``broker`` option."""
    return [f"kafka://{host_port(host, port)}" for host, port, _ in collect_hosts(settings.bootstrap_servers)]


def faust_broker_credentials(
    settings: KafkaSettings,
) -> SASLCredentials | OAuthCredentials | SSLCredentials | None:
    """Return Faust's ``broker_credentials``; raises InvalidSettings as :func:`client_arguments` does."""
    # Imported here: Faust and its HTTP client take a quarter of a second, which no command needs.
    from faust.auth import OAuthCredentials, SASLCredentials, SSLCredentials  # noqa: PLC0415

    context = _ssl_context(settings)
    if not settings.security_protocol.startswith("SASL"):
        return SSLCredentials(context) if context else None
    if settings.oauth:
        return OAuthCredentials(oauth_cb=token_provider(settings), ssl_context=context)
    return SASLCredentials(
        username=settings.sasl_username,
        password=_password(settings),
        mechanism=settings.sasl_mechanism,
        ssl_context=context,
    )


def host_port(host: str, port: int) -> str:
    """Join host and port; an IPv6 address is put in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _password(settings: KafkaSettings) -> str:
    return settings.sasl_password.get_secret_value() if settings.sasl_password else ""


def _ssl_context(settings: KafkaSettings) -> ssl.SSLContext | None:
    if "SSL" not in settings.security_protocol:
        return None
    context = client_ssl_context("kafka.ssl_cafile", settings.ssl_cafile)
    if settings.ssl_certfile and settings.ssl_keyfile:
        certificate = ("kafka.ssl_certfile", settings.ssl_certfile)
        key = ("kafka.ssl_keyfile", settings.ssl_keyfile)
        load_client_certificate(context, certificate, key, settings.ssl_key_password)
    return context


# Every consumer is created here or by Faust in an application that imports this module.
header_names_patch.install()

_CLOSE_SECONDS = 5.0
_TLS_CLOSE_SECONDS = 1.0
_REFUSALS = (
    AuthenticationFailedError,
    AuthenticationMethodNotSupported,
    IllegalSaslStateError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)

_NO_CERTIFICATE = "a client without certificate (kafka.ssl_certfile is not set)"


class ServiceUnreachable(Exception):
    """A service does not answer in time; the message is one line that names the setting."""


class CredentialsRefused(ServiceUnreachable):
    """The cluster answers, but refuses these credentials or has an untrusted certificate."""


@asynccontextmanager
async def open_producer(settings: KafkaSettings, **options: Any) -> AsyncIterator[AIOKafkaProducer]:
    """Open a producer whose sends are acknowledged by all in-sync replicas.

    ``options`` go to AIOKafkaProducer. A send fails after ``settings.delivery_timeout_seconds``; before
    that a retry may duplicate it. A clean exit flushes unsent records within that time. Raises
    ServiceUnreachable.
    """
    # Not idempotent: aiokafka's idempotent producer retries a send without end, and a record that the broker
    # refuses leaves a gap in the sequence that fails all later sends. Consumers of verdicts drop duplicate
    # ids anyway, since a worker that crashes duplicates some too.
    options = {"request_timeout_ms": int(settings.delivery_timeout_seconds * 1000), **options}
    arguments = await _reachable_arguments(settings)
    producer = AIOKafkaProducer(**arguments, acks="all", **options)
    async with _running_client(settings, producer.start, lambda: _stop_producer(producer)):
        yield producer
        await _await_within(settings, settings.delivery_timeout_seconds, producer.flush())


@asynccontextmanager
async def open_consumer(
    settings: KafkaSettings, *topics: str, **options: Any
) -> AsyncIterator[AIOKafkaConsumer]:
    """Open a consumer of ``topics``, or of partitions assigned later; without a group unless one is set.

    It is open as soon as the cluster has answered: the first read waits for the assignment. ``options``
    go to AIOKafkaConsumer. Raises ServiceUnreachable.
    """
    options = {"enable_auto_commit": False, **options}
    arguments = await _reachable_arguments(settings)
    consumer = AIOKafkaConsumer(**arguments, **options)
    async with _running_client(settings, consumer.start, lambda: _stop_consumer(consumer)):
        if topics:
            consumer.subscribe(topics)
        yield consumer


@asynccontextmanager
async def open_admin(settings: KafkaSettings) -> AsyncIterator[AIOKafkaAdminClient]:
    """Open an admin client; raises ServiceUnreachable, also for failures of requests inside."""
    arguments = await _reachable_arguments(settings)
    limit = int(settings.connect_timeout_seconds * 1000)
    admin = AIOKafkaAdminClient(**arguments, request_timeout_ms=limit)
    async with _running_client(settings, admin.start, admin.close):
        try:
            yield admin
        except (KafkaError, TimeoutError) as error:
            raise _unreachable(settings, [error], settings.connect_timeout_seconds) from error


async def check_reachable(settings: KafkaSettings) -> None:
    """Return when a bootstrap server accepts these credentials; raises ServiceUnreachable."""
    await _reachable_arguments(settings)


def raise_if_cancelled(since: int = 0) -> None:
    """Raise CancelledError if this task was cancelled and goes on: aiokafka swallows some cancellations.

    A loop over requests calls it in each turn; it would never end otherwise. ``since`` is the number of
    cancellations that were known already: what cleans up after one may still send requests.
    """
    if _cancellations() > since:
        raise asyncio.CancelledError


def _cancellations() -> int:
    task = asyncio.current_task()
    return task.cancelling() if task else 0


@asynccontextmanager
async def _running_client(
    settings: KafkaSettings, start: Callable[[], Awaitable[None]], stop: Callable[[], Awaitable[None]]
) -> AsyncIterator[None]:
    known = _cancellations()
    try:
        await _start_client(settings, start())
        yield
    finally:
        # An unreachable cluster must not delay the exit: everything that matters has been awaited.
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * _CLOSE_SECONDS):
                await stop()
        raise_if_cancelled(known)


async def _start_client(settings: KafkaSettings, start: Awaitable[None]) -> None:
    starting = asyncio.ensure_future(start)
    try:
        await _await_within(settings, settings.connect_timeout_seconds, asyncio.shield(starting))
    except asyncio.CancelledError:
        # A start that is cancelled leaves a connection open that nobody closes.
        await asyncio.wait([starting], timeout=_CLOSE_SECONDS)
        raise
    finally:
        starting.cancel()


async def _stop_producer(producer: AIOKafkaProducer) -> None:
    """Stop a producer completely; undelivered records fail."""
    if not await _stop_within_timeout(producer.stop()):
        if task := producer._sender.sender_task:  # noqa: SLF001 - stop() waits for it without limit
            task.cancel()
        producer._message_accumulator.fail_all(KafkaConnectionError("the producer was closed"))  # noqa: SLF001
        await producer.client.close()


async def _stop_consumer(consumer: AIOKafkaConsumer) -> None:
    if not await _stop_within_timeout(consumer.stop()):
        await consumer._client.close()  # noqa: SLF001 - a second stop() does nothing


async def _stop_within_timeout(stop: Coroutine[Any, Any, None]) -> bool:
    """Return whether a client stopped in time; otherwise its connections are still open.

    While brokers are unreachable, ``stop()`` may wait without limit, and a consumer's fetcher leaks the
    cancellation of its own task without a request.
    """
    stopping = asyncio.ensure_future(stop)
    try:
        await asyncio.wait([stopping], timeout=_CLOSE_SECONDS)
    finally:
        stopping.cancel()
    if not stopping.done() or stopping.cancelled():
        return False
    stopping.result()
    return True


async def _await_within(settings: KafkaSettings, seconds: float, action: Awaitable[None]) -> None:
    try:
        async with asyncio.timeout(seconds):
            await action
    except (TimeoutError, KafkaError, OSError) as error:
        raise _unreachable(settings, [error], seconds) from error


async def _reachable_arguments(settings: KafkaSettings) -> dict[str, Any]:
    """Return connection arguments with the first server that answers.

    aiokafka tries its bootstrap servers in turn, each with the full request timeout, and only logs the
    reasons. Probed concurrently beforehand, a dead server costs no time, and the reason is an exception.
    """
    arguments = client_arguments(settings)
    hosts = collect_hosts(settings.bootstrap_servers)
    attempts = [asyncio.create_task(_probe_server(host, port, arguments)) for host, port, _ in hosts]
    reasons: list[Exception] = []
    try:
        for attempt in asyncio.as_completed(attempts, timeout=settings.connect_timeout_seconds):
            try:
                return {**arguments, "bootstrap_servers": await attempt}
            except (KafkaError, OSError, TimeoutError, ValueError) as error:
                reasons.append(error)
    finally:
        for task in attempts:
            task.cancel()
        await asyncio.gather(*attempts, return_exceptions=True)
    if mismatch := await _protocol_mismatch(settings, reasons):
        raise ServiceUnreachable(mismatch)
    raise _unreachable(settings, reasons, settings.connect_timeout_seconds)


async def _probe_server(host: str, port: int, arguments: dict[str, Any]) -> str:
    """Connect to one server and request metadata, which a server of another protocol does not answer."""
    entry = {key: value for key, value in arguments.items() if key != "bootstrap_servers"}
    server = AIOKafkaConnection(host, port, **entry)
    try:
        await server.connect()
        await server.send(MetadataRequest([]))
    finally:
        closed = server.close()
        # TLS has a closing handshake. If the event loop ends before it, the socket stays open.
        if server._protocol is not None:  # noqa: SLF001 - the only sign of a connection
            await asyncio.wait([closed], timeout=_TLS_CLOSE_SECONDS)
    return host_port(host, port)


async def _protocol_mismatch(settings: KafkaSettings, reasons: list[Exception]) -> str | None:
    """Return that a server speaks another security protocol, if the reasons may mean that and it does."""
    if not any(map(may_mean_other_protocol, reasons)):
        return None
    servers = [(host, port) for host, port, _ in collect_hosts(settings.bootstrap_servers)]
    found = await asyncio.gather(*(listener_protocol(*server) for server in servers))
    for server, protocol in zip(servers, found, strict=True):
        if protocol and protocol != settings.security_protocol:
            return (
                f"Kafka at {host_port(*server)} (setting kafka.bootstrap_servers) speaks {protocol}, not "
                f"{settings.security_protocol} (setting kafka.security_protocol)"
            )
    return None


def _unreachable(settings: KafkaSettings, reasons: list[Exception], limit: float) -> ServiceUnreachable:
    """Return the error for the most informative of the reasons."""
    where = f"Kafka at {settings.bootstrap_servers} (setting kafka.bootstrap_servers)"
    for reason in reasons:
        if isinstance(reason, TokenUnavailable):
            return ServiceUnreachable(f"{where}: no token: {reason.args[0]}")
        if refusal := _refusal(settings, reason):
            return CredentialsRefused(f"{where}{refusal}")
    reason = reasons[0] if reasons else TimeoutError()
    if isinstance(reason, TimeoutError):
        return ServiceUnreachable(f"{where} does not answer within {limit:g} s")
    return ServiceUnreachable(
        f"{where} cannot be reached with {settings.security_protocol}: {error_line(reason)}"
    )


def _refusal(settings: KafkaSettings, reason: Exception) -> str | None:
    """Return what was refused: by the token endpoint, by the broker, or the broker's certificate."""
    if isinstance(reason, TokenRefused):
        return f": no token: {reason.args[0]}"
    # aiokafka reports a wrong SCRAM signature as ValueError; so does the lookup of an invalid host name.
    if isinstance(reason, (*_REFUSALS, ValueError)) and not isinstance(reason, OSError | UnicodeError):
        kind = "client" if settings.oauth else "user"
        by = f"{settings.security_protocol} {settings.sasl_mechanism}"
        return f" refuses {kind} {settings.sasl_username!r} with {by}: {error_line(reason)}"
    failure = find_tls_error(reason)
    if failure is None:
        return None
    if distrusted := certificate_error(failure, "kafka.ssl_cafile", settings.ssl_cafile):
        return f": {distrusted}"
    if "ALERT" in (failure.reason or ""):  # the broker's reason
        file = settings.ssl_certfile
        shown = f"certificate kafka.ssl_certfile {file}" if file else _NO_CERTIFICATE
        return f" refuses {shown}: {error_line(failure)}"
    return f": TLS failed: {error_line(failure)}"
