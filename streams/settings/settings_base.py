"""The base of all sections: names of variables, types, secrets from files, and addresses.

A secret, each value of a table of secrets, and an address (which may contain credentials) can be set by the
name of a file. Messages do not quote these values, and quote the name of a file only if it looks like a path,
absolute and in an existing folder: some people set the secret itself there.
"""

import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from ipaddress import IPv6Address
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo

#: The replacement for a secret.
REDACTED: Final = "***"

_HOST = re.compile(r"[^\s:/?#@\[\],]+")
_SERVER = re.compile(
    rf"(?:\[(?P<ipv6>[^\]]*)\]|(?P<host>{_HOST.pattern}))(?::(?P<port>\d{{1,5}}))?", re.ASCII
)
_PORTS = range(1, 65536)


def redact_credentials(text: str) -> str:
    """Return a possible URL without credentials: without user, password and query.

    An unquoted password may contain any character, so the last @ ends it.
    """
    scheme, found, rest = text.partition("://")
    if not found:
        return text
    before, at, after = rest.rpartition("@")
    if "?" in before:  # part of a password, or a query with an @
        return f"{scheme}://{REDACTED}"
    address, query, _ = after.partition("?")
    return f"{scheme}://{REDACTED * bool(at)}{at}{address}{query}{REDACTED * bool(query)}"


def _servers(value: str) -> str:
    if not value.strip(" ,"):
        raise ValueError("is empty; set at least one host:port, e.g. kafka-1:9092,kafka-2:9092")
    if not all(_is_server(server.strip()) for server in value.split(",")):
        raise ValueError(
            "should be host:port, comma-separated, with ports from 1 to 65535, IPv6 in brackets, and "
            "1 to 63 characters between the dots of a host"
        )
    return value


def _is_server(server: str) -> bool:
    match = _SERVER.fullmatch(server)
    if match is None or (match["port"] is not None and int(match["port"]) not in _PORTS):
        return False
    return _is_name(match["host"]) if match["ipv6"] is None else _is_ipv6(match["ipv6"])


def _http_url(value: str) -> str:
    if value and not _is_http_url(value):  # deployment templates write empty for unset
        raise ValueError("should be an http or https URL with a host, e.g. http://host:8081")
    return value


def _is_http_url(value: str) -> bool:
    try:
        parts = urlsplit(value)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    return (
        parts.scheme in {"http", "https"}
        and (port is None or port in _PORTS)
        and (_is_name(host) or _is_ipv6(host))
    )


def _host(value: str) -> str:
    if value and not (_is_name(value) or _is_ipv6(value)):  # empty: all addresses of the machine
        raise ValueError("should be an IP address or a host name, with 1 to 63 characters between its dots")
    return value


def _is_name(host: str) -> bool:
    """Return whether a host name can be looked up: Python fails on some with an error no client expects."""
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return bool(_HOST.fullmatch(host))


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host)
    except ValueError:
        return False
    return True


Servers = Annotated[str, AfterValidator(_servers)]
"""Kafka servers, comma-separated: each a host, or host:port with a port from 1 to 65535."""

HttpUrl = Annotated[str, AfterValidator(_http_url)]
"""An http or https URL with a host; it may contain credentials."""

Host = Annotated[str, AfterValidator(_host)]
"""An IP address, without brackets, or a host name; empty: all addresses of the machine."""

FILE_SUFFIX = "_file"

#: The largest secrets are certificate chains of some KB.
_MAX_SECRET_BYTES = 64 * 1024
_ADDRESS_VALIDATORS = HttpUrl.__metadata__  # type: ignore[attr-defined] # Annotated


def read_secret_files(fields: Mapping[str, FieldInfo], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a section's values with secrets read from the files that ``..._file`` names.

    Raises:
        ValueError: a file cannot be used, or a secret is set in both ways.
    """
    read = dict(values)
    for name, field in fields.items():
        if may_be_secret(field):
            _read_into(read, name, name)
        elif _holds_secrets(field.annotation) and isinstance(read.get(name), Mapping):
            secrets = dict(read[name])
            for key in [key for key in secrets if str(key).endswith(FILE_SUFFIX)]:
                _read_into(secrets, key.removesuffix(FILE_SUFFIX), f"{name}.{key.removesuffix(FILE_SUFFIX)}")
            read[name] = secrets
    return read


def may_be_secret(field: FieldInfo) -> bool:
    """Return whether a setting is a secret, or an address, which may contain one."""
    if _holds_secrets(field.annotation):
        return False
    kinds = [field.annotation, *get_args(field.annotation)]
    metadata = [*field.metadata, *(mark for kind in kinds for mark in getattr(kind, "__metadata__", ()))]
    return SecretStr in kinds or any(mark in _ADDRESS_VALIDATORS for mark in metadata)


def _holds_secrets(annotation: Any) -> bool:
    return get_origin(annotation) is dict and SecretStr in get_args(annotation)


def _read_into(values: dict[str, Any], name: str, label: str) -> None:
    path = values.pop(f"{name}{FILE_SUFFIX}", None)
    if not path:  # deployment templates write empty for unset
        return
    if values.get(name):
        raise ValueError(f"{label} and {label}{FILE_SUFFIX} are both set")
    values[name] = _content(path, f"{label}{FILE_SUFFIX}")


def _content(path: object, label: str) -> str:
    if not isinstance(path, str | Path):
        raise ValueError(f"{label} should be the name of a file")  # noqa: TRY004 - pydantic expects ValueError
    file = Path(path)
    named = f"{label} {file}" if _looks_like_path(file) else label
    try:
        content = _read_bounded(file)
    except OSError as error:
        raise ValueError(f"{named} cannot be read: {error.strerror or type(error).__name__}") from None
    except ValueError as error:
        raise ValueError(f"{named} {error}") from None
    if not content:
        raise ValueError(f"{named} is empty")
    return content


def _looks_like_path(file: Path) -> bool:
    try:
        return file.is_absolute() and file.parent.is_dir()
    except (OSError, ValueError):
        return False


def _read_bounded(path: Path) -> str:
    """Read a UTF-8 file without trailing line ends, which editors and ``echo`` append."""
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe or a device may never end
        raise ValueError("is not a regular file")
    with path.open("rb") as file:
        content = file.read(_MAX_SECRET_BYTES + 1)
    if len(content) > _MAX_SECRET_BYTES:
        raise ValueError(f"has more than {_MAX_SECRET_BYTES // 1024} KiB")
    try:
        return content.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None


def secret_file_names(fields: Mapping[str, FieldInfo]) -> Iterator[str]:
    """Yield the settings of a section that name files with its secrets."""
    return (f"{name}{FILE_SUFFIX}" for name, field in fields.items() if may_be_secret(field))


T = TypeVar("T")

ENV_PREFIX = "TRUTHGATE_"
ENV_DELIMITER = "__"

DAY_SECONDS = 86_400
YEAR_SECONDS = 365 * DAY_SECONDS

# A larger number is a mistake, and would make clients and timers fail long after the start.
Seconds = Annotated[float, Field(gt=0, le=DAY_SECONDS)]


class InvalidSettings(Exception):
    """A setting cannot be used; the message is one line that names it, ``more`` has further lines."""

    def __init__(self, message: str, *more: str) -> None:
        super().__init__(message)
        self.more = more


class SettingsSection(BaseModel):
    """A section of the settings: immutable, without unknown names, with finite numbers only."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _read_secrets_from_files(cls, values: Any) -> Any:
        return read_secret_files(cls.model_fields, values) if isinstance(values, Mapping) else values

    @field_validator("*", mode="before")
    @classmethod
    def _ignore_case_of_choices(cls, value: Any, info: ValidationInfo) -> Any:
        # Other programs use INFO or sasl_ssl; the meaning is unambiguous.
        if not (isinstance(value, str) and info.field_name):
            return value
        choices = _choices(cls.model_fields[info.field_name].annotation)
        return {each.casefold(): each for each in choices}.get(value.casefold(), value)


def _choices(annotation: Any) -> tuple[str, ...]:
    """Return the words that a field accepts, in a union too; none if it accepts any text."""
    if get_origin(annotation) is Literal:
        return tuple(each for each in get_args(annotation) if isinstance(each, str))
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return tuple(annotation)
    return tuple(word for part in get_args(annotation) for word in _choices(part))


def first_duplicate(values: Iterable[T]) -> T | None:
    """Return the first value that occurs more than once, or None."""
    return next((value for value, times in Counter(values).items() if times > 1), None)


def one_line(text: str) -> str:
    """Return ``text`` with each run of white space replaced by one space: messages are one line."""
    return " ".join(text.split())


def variable_name(*path: str | int) -> str:
    """Return the environment variable of a setting: ``("web", "port")`` is ``TRUTHGATE_WEB__PORT``."""
    return ENV_PREFIX + ENV_DELIMITER.join(str(part) for part in path).upper()
