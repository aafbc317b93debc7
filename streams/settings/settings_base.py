"""The base of all sections: names of variables, types, secrets from files, and addresses.

The messages do not repeat the address: it may hold credentials.

That goes for every secret of every section, for each value of a dictionary of secrets, and for every address,
since an address may hold credentials. A message quotes only what looks like a path, from the root and in a
folder that is there: some give the secret itself.
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

#: Stands where something is that nobody is shown.
REDACTED: Final = "***"

_HOST = re.compile(r"[^\s:/?#@\[\],]+")
_SERVER = re.compile(
    rf"(?:\[(?P<ipv6>[^\]]*)\]|(?P<host>{_HOST.pattern}))(?::(?P<port>\d{{1,5}}))?", re.ASCII
)
_PORTS = range(1, 65536)


def redact_credentials(text: str) -> str:
    """Give a text that may be a URL without what is nobody's business: a user with a password, and a query.

    A password may have any sign in it where nobody has quoted it, so it is the last @ that ends it.
    """
    scheme, found, rest = text.partition("://")
    if not found:
        return text
    before, at, after = rest.rpartition("@")
    if "?" in before:  # a sign of a password, or a query with an @ in it
        return f"{scheme}://{REDACTED}"
    address, query, _ = after.partition("?")
    return f"{scheme}://{REDACTED * bool(at)}{at}{address}{query}{REDACTED * bool(query)}"


def _servers(value: str) -> str:
    if not value.strip(" ,"):
        raise ValueError("is empty: name at least one host:port, such as kafka-1:9092,kafka-2:9092")
    if not all(_is_server(server.strip()) for server in value.split(",")):
        raise ValueError(
            "should be host:port, comma separated, with ports from 1 to 65535, IPv6 in brackets, and "
            "1 to 63 characters between the dots of a host"
        )
    return value


def _is_server(server: str) -> bool:
    match = _SERVER.fullmatch(server)
    if match is None or (match["port"] is not None and int(match["port"]) not in _PORTS):
        return False
    return _is_name(match["host"]) if match["ipv6"] is None else _is_ipv6(match["ipv6"])


def _http_url(value: str) -> str:
    if value and not _is_http_url(value):  # empty is unset, as templates of deployments have it
        raise ValueError("should be an http or https URL with a host, such as http://host:8081")
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
    if value and not (_is_name(value) or _is_ipv6(value)):  # empty is every address of the machine
        raise ValueError(
            "should be an IP address or the name of a host, of 1 to 63 characters between its dots"
        )
    return value


def _is_name(host: str) -> bool:
    """Say whether a host can be looked up: Python refuses some names by an error that no client expects."""
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
"""Kafka servers, comma separated: each a host, or host:port with a port from 1 to 65535."""

HttpUrl = Annotated[str, AfterValidator(_http_url)]
"""A URL of the scheme http or https that names a host; it may hold credentials."""

Host = Annotated[str, AfterValidator(_host)]
"""An IP address, without brackets, or the name of a host; empty is every address of the machine."""

FILE_SUFFIX = "_file"

#: The largest secrets are chains of certificates, of some KB.
_MAX_SECRET_BYTES = 64 * 1024
_OF_ADDRESSES = HttpUrl.__metadata__  # type: ignore[attr-defined] # of Annotated


def read_secret_files(fields: Mapping[str, FieldInfo], values: Mapping[str, Any]) -> dict[str, Any]:
    """Give the values of a section with what stands in files in the place of the files' names.

    Raises:
        ValueError: a file cannot be used, or a secret is given in both ways.
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
    """Say whether a setting is a secret, or an address, which may hold one."""
    if _holds_secrets(field.annotation):
        return False
    kinds = [field.annotation, *get_args(field.annotation)]
    metadata = [*field.metadata, *(mark for kind in kinds for mark in getattr(kind, "__metadata__", ()))]
    return SecretStr in kinds or any(mark in _OF_ADDRESSES for mark in metadata)


def _holds_secrets(annotation: Any) -> bool:
    return get_origin(annotation) is dict and SecretStr in get_args(annotation)


def _read_into(values: dict[str, Any], name: str, label: str) -> None:
    path = values.pop(f"{name}{FILE_SUFFIX}", None)
    if not path:  # empty is unset, as templates of deployments have it
        return
    if values.get(name):
        raise ValueError(f"{label} and {label}{FILE_SUFFIX} are both given")
    values[name] = _content(path, f"{label}{FILE_SUFFIX}")


def _content(path: object, label: str) -> str:
    if not isinstance(path, str | Path):
        raise ValueError(f"{label} should be the name of a file")  # noqa: TRY004 - pydantic's error is this one
    file = Path(path)
    named = f"{label} {file}" if _looks_like_a_path(file) else label
    try:
        content = _bounded(file)
    except OSError as error:
        raise ValueError(f"{named} cannot be read: {error.strerror or type(error).__name__}") from None
    except ValueError as error:
        raise ValueError(f"{named} {error}") from None
    if not content:
        raise ValueError(f"{named} is empty")
    return content


def _looks_like_a_path(file: Path) -> bool:
    try:
        return file.is_absolute() and file.parent.is_dir()
    except (OSError, ValueError):
        return False


def _bounded(path: Path) -> str:
    """Read a file of UTF-8 without the line ends that editors and ``echo`` leave behind it."""
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe or a device may never end
        raise ValueError("is no regular file")
    with path.open("rb") as file:
        content = file.read(_MAX_SECRET_BYTES + 1)
    if len(content) > _MAX_SECRET_BYTES:
        raise ValueError(f"has more than {_MAX_SECRET_BYTES // 1024} KiB")
    try:
        return content.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None


def secret_file_names(fields: Mapping[str, FieldInfo]) -> Iterator[str]:
    """Name the settings of a section that name files with its secrets."""
    return (f"{name}{FILE_SUFFIX}" for name, field in fields.items() if may_be_secret(field))


T = TypeVar("T")

ENV_PREFIX = "TRUTHGATE_"
ENV_DELIMITER = "__"

DAY_SECONDS = 86_400
YEAR_SECONDS = 365 * DAY_SECONDS

# Beyond some size a number is a slip, and clients and timers fail on it long after the start.
Seconds = Annotated[float, Field(gt=0, le=DAY_SECONDS)]


class InvalidSettings(Exception):
    """A setting cannot be used; the message is one line that names it, and ``more`` are further lines."""

    def __init__(self, message: str, *more: str) -> None:
        super().__init__(message)
        self.more = more


class SettingsSection(BaseModel):
    """A part of the settings: it cannot be changed, has no names but its own, and only finite numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _secrets_may_stand_in_files(cls, values: Any) -> Any:
        return read_secret_files(cls.model_fields, values) if isinstance(values, Mapping) else values

    @field_validator("*", mode="before")
    @classmethod
    def _choices_in_any_case(cls, value: Any, info: ValidationInfo) -> Any:
        # Other programs want INFO or sasl_ssl: what is meant is clear.
        if not (isinstance(value, str) and info.field_name):
            return value
        choices = _choices(cls.model_fields[info.field_name].annotation)
        return {each.casefold(): each for each in choices}.get(value.casefold(), value)


def _choices(annotation: Any) -> tuple[str, ...]:
    """Give the words that a field takes, in a union too; none where it takes any text."""
    if get_origin(annotation) is Literal:
        return tuple(each for each in get_args(annotation) if isinstance(each, str))
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return tuple(annotation)
    return tuple(word for part in get_args(annotation) for word in _choices(part))


def first_duplicate(values: Iterable[T]) -> T | None:
    """Give the first of ``values`` that is there more than once, or None."""
    return next((value for value, times in Counter(values).items() if times > 1), None)


def one_line(text: str) -> str:
    """Give ``text`` with every stretch of white space as one space: messages are one line."""
    return " ".join(text.split())


def variable_name(*path: str | int) -> str:
    """Name the environment variable of a setting: ``("web", "port")`` is ``TRUTHGATE_WEB__PORT``."""
    return ENV_PREFIX + ENV_DELIMITER.join(str(part) for part in path).upper()
