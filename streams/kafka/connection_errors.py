"""Why a connection to Kafka failed, in words for an operator."""

import ssl
from pathlib import Path

from aiokafka.errors import KafkaError


def error_line(error: BaseException) -> str:
    """Say in one line what an error says."""
    match error:
        case ConnectionRefusedError():
            return "connection refused"
        case ssl.SSLError(reason=str(reason)):
            return reason.replace("_", " ").lower()
        case KafkaError(args=(str(told), *_)):
            return f"{type(error).__name__}: {told}"
        case KafkaError():
            return type(error).__name__
    return " ".join(str(error).split()) or type(error).__name__


def find_tls_error(error: BaseException) -> ssl.SSLError | None:
    """Find what TLS says in an error or in what it came from: libraries tell of a broken connection alone."""
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        if isinstance(cause, ssl.SSLError):
            return cause
        seen.append(cause)
        cause = cause.__cause__ or cause.__context__
    return None


def certificate_error(error: ssl.SSLError, setting: str, cafile: Path | None) -> str | None:
    """Say that a server's certificate is not trusted, and why, if that is what TLS says."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        return None
    trusted = f"{setting} {cafile}" if cafile else f"the system's authorities ({setting} is not set)"
    return f"its certificate is not trusted with {trusted}: {error.verify_message.rstrip('.')}"
