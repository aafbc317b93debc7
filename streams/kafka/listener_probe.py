"""Finds out which security protocol a listener speaks, to explain a failed connection with another one."""

import asyncio
import ssl
from contextlib import suppress
from typing import Final

from aiokafka.conn import AIOKafkaConnection
from aiokafka.errors import IllegalSaslStateError, KafkaConnectionError, KafkaError, for_code
from aiokafka.protocol.admin import SaslHandShakeRequest

from streams.kafka.connection_errors import find_tls_error
from streams.kafka.oauth import TokenUnavailable

#: An answer takes milliseconds; a server of another kind gives none.
_SECONDS: Final = 3.0
#: The broker names its mechanisms in any case, so this one need not be enabled.
_MECHANISM: Final = "PLAIN"


def may_mean_other_protocol(error: BaseException) -> bool:
    """Return whether a connection may have failed since the listener speaks another security protocol.

    Brokers do not say so: they close the connection, or refuse SASL as out of place.
    """
    if isinstance(error, ConnectionRefusedError | TokenUnavailable) or _is_tls_refusal(error):
        return False
    return isinstance(error, IllegalSaslStateError | KafkaConnectionError | ConnectionError | ssl.SSLError)


def _is_tls_refusal(error: BaseException) -> bool:
    """Return whether TLS was spoken, and one side does not accept the other's certificate."""
    failure = find_tls_error(error)
    return isinstance(failure, ssl.SSLCertVerificationError) or "ALERT" in (
        getattr(failure, "reason", "") or ""
    )


async def listener_protocol(host: str, port: int) -> str | None:
    """Return the security protocol of a listener, or None if it does not show it.

    Nothing secret is sent: only which versions and mechanisms the broker has is asked.
    """
    for protocol in ("PLAINTEXT", "SSL"):
        with suppress(KafkaError, OSError, TimeoutError, ValueError):
            async with asyncio.timeout(_SECONDS):
                return f"SASL_{protocol}" if await _requires_sasl(host, port, protocol) else protocol
    return None


async def _requires_sasl(host: str, port: int, protocol: str) -> bool:
    context = None
    if protocol == "SSL":
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    server = AIOKafkaConnection(host, port, security_protocol=protocol, ssl_context=context)
    try:
        await server.connect()
        answer = await server.send(SaslHandShakeRequest(_MECHANISM))
    except (KafkaError, OSError) as error:
        if _is_tls_refusal(error):  # it wants a certificate of its client, as no listener with SASL does
            return False
        raise
    finally:
        if server._protocol is not None:  # noqa: SLF001 - the only sign of a connection
            await asyncio.wait([server.close()], timeout=1)
    return for_code(answer.error_code) is not IllegalSaslStateError
