"""Reasons of failed connections, for operators."""

import ssl
from pathlib import Path

from aiokafka.errors import KafkaError


def error_line(error: BaseException) -> str:
    """Return an error as one line."""
    match error:
        case ConnectionRefusedError():
            return "connection refused"
        case ssl.SSLError(reason=str(reason)):
            return reason.replace("_", " ").lower()
        case KafkaError(args=(str(text), *_)):
            return f"{type(error).__name__}: {text}"
        case KafkaError():
            return type(error).__name__
    return " ".join(str(error).split()) or type(error).__name__


def find_tls_error(error: BaseException) -> ssl.SSLError | None:
    """Return the TLS error that caused an error, if any: libraries report only a broken connection."""
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        if isinstance(cause, ssl.SSLError):
            return cause
        seen.append(cause)
        cause = cause.__cause__ or cause.__context__
    return None


def certificate_error(error: ssl.SSLError, setting: str, cafile: Path | None) -> str | None:
    """Return why a server's certificate is not trusted, or None for another TLS error."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        return None
    trusted = f"{setting} {cafile}" if cafile else f"the system's authorities ({setting} is not set)"
    return f"its certificate is not trusted by {trusted}: {error.verify_message.rstrip('.')}"
