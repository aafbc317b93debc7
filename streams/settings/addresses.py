"""Addresses in the settings: checked when they are read, so that no client stumbles over them later.

The messages do not repeat the address: it may hold credentials.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator

#: Stands where something is that nobody is shown.
HIDDEN: Final = "***"

_HOST = re.compile(r"[^\s:/?#@\[\],]+")
_SERVER = re.compile(
    rf"(?:\[(?P<ipv6>[^\]]*)\]|(?P<host>{_HOST.pattern}))(?::(?P<port>\d{{1,5}}))?", re.ASCII
)
_PORTS = range(1, 65536)


def without_credentials(text: str) -> str:
    """Give a text that may be a URL without what is nobody's business: a user with a password, and a query.

    A password may have any sign in it where nobody has quoted it, so it is the last @ that ends it.
    """
    scheme, found, rest = text.partition("://")
    if not found:
        return text
    before, at, after = rest.rpartition("@")
    if "?" in before:  # a sign of a password, or a query with an @ in it
        return f"{scheme}://{HIDDEN}"
    address, query, _ = after.partition("?")
    return f"{scheme}://{HIDDEN * bool(at)}{at}{address}{query}{HIDDEN * bool(query)}"


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
