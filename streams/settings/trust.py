"""TLS contexts from the files that settings name: whom to trust, and what to show."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import SecretStr

from streams.settings.base import WrongSettings


def trusting(setting: str, cafile: Path | None) -> ssl.SSLContext:
    """Make a client's context that trusts the authorities in a file, None for those of the system.

    Raises:
        WrongSettings: in one line with the setting, the file and the reason.
    """
    if cafile:
        _refuse_unreadable(setting, cafile)
    with _explained(f"{setting} {cafile}"):
        return ssl.create_default_context(cafile=cafile)


def show_certificate(
    context: ssl.SSLContext,
    certificate: tuple[str, Path],
    key: tuple[str, Path],
    password: SecretStr | None,
) -> None:
    """Have a context show a certificate to servers that ask for one.

    Args:
        context: is changed.
        certificate: the name of its setting, and its file.
        key: the same of its key.
        password: what the key is encrypted with.

    Raises:
        WrongSettings: in one line with the settings, the files and the reason.
    """
    for setting, file in (certificate, key):
        _refuse_unreadable(setting, file)
    # Without a password of ours OpenSSL would ask for one at the terminal, without limit.
    secret = password.get_secret_value() if password else ""
    with _explained(f"{certificate[0]} {certificate[1]} with {key[0]} {key[1]}"):
        context.load_cert_chain(certificate[1], key[1], secret)


def _refuse_unreadable(setting: str, file: Path) -> None:
    """Open a file: OpenSSL does not say which of several is not there."""
    with _explained(f"{setting} {file}"), file.open("rb"):
        pass


@contextmanager
def _explained(what: str) -> Iterator[None]:
    try:
        yield
    except ssl.SSLError as error:
        known = error.reason.replace("_", " ").lower() if error.reason else None
        reason = known or "no PEM, or encrypted with another password"
        raise WrongSettings(f"{what} cannot be used: {reason}") from None
    except OSError as error:
        raise WrongSettings(f"{what} cannot be used: {error.strerror or type(error).__name__}") from None
