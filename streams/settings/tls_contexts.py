"""TLS contexts from the files in the settings: trusted authorities and client certificates."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import SecretStr

from streams.settings.settings_base import InvalidSettings


def client_ssl_context(setting: str, cafile: Path | None, *, system_too: bool = False) -> ssl.SSLContext:
    """Return a client's context that trusts the authorities in a file; None: those of the system.

    Args:
        setting: the name of the file's setting, for messages.
        cafile: the file.
        system_too: trust the system's authorities in addition.

    Raises:
        InvalidSettings: in one line with setting, file and reason.
    """
    if cafile:
        _refuse_unreadable(setting, cafile)
    with _as_invalid_settings(f"{setting} {cafile}"):
        context = ssl.create_default_context(cafile=None if system_too else cafile)
        if cafile and system_too:
            context.load_verify_locations(cafile)
        return context


def load_client_certificate(
    context: ssl.SSLContext,
    certificate: tuple[str, Path],
    key: tuple[str, Path],
    password: SecretStr | None,
) -> None:
    """Load a client certificate into a context, for servers that require one.

    Args:
        context: is changed.
        certificate: the name of its setting, and its file.
        key: the name of its setting, and its file.
        password: of an encrypted key.

    Raises:
        InvalidSettings: in one line with settings, files and reason.
    """
    for setting, file in (certificate, key):
        _refuse_unreadable(setting, file)
    # Without a password OpenSSL would prompt for one at the terminal, without limit.
    secret = password.get_secret_value() if password else ""
    with _as_invalid_settings(f"{certificate[0]} {certificate[1]} with {key[0]} {key[1]}"):
        context.load_cert_chain(certificate[1], key[1], secret)


def certificate_end(file: Path) -> float | None:
    """Return when the first certificate of a PEM file expires, in seconds since 1970; None if it has none."""
    from cryptography.x509 import load_pem_x509_certificate  # noqa: PLC0415 - few have such a file

    try:
        return load_pem_x509_certificate(file.read_bytes()).not_valid_after_utc.timestamp()
    except (OSError, ValueError):  # whoever connects with it says what is wrong
        return None


def _refuse_unreadable(setting: str, file: Path) -> None:
    """Open a file: OpenSSL does not report which of several is missing."""
    with _as_invalid_settings(f"{setting} {file}"), file.open("rb"):
        pass


@contextmanager
def _as_invalid_settings(what: str) -> Iterator[None]:
    try:
        yield
    except ssl.SSLError as error:
        known = error.reason.replace("_", " ").lower() if error.reason else None
        reason = known or "not PEM, or encrypted with another password"
        raise InvalidSettings(f"{what} cannot be used: {reason}") from None
    except OSError as error:
        raise InvalidSettings(f"{what} cannot be used: {error.strerror or type(error).__name__}") from None
