"""Addresses in the settings: checked when they are read, so that no client stumbles over them later.

The messages do not repeat the address: it may hold credentials.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

_HOST = re.compile(r"[^\s:/?#@\[\],]+")
_SERVER = re.compile(rf"(?:\[(?P<ipv6>[^\]]*)\]|{_HOST.pattern})(?::(?P<port>\d{{1,5}}))?", re.ASCII)
_PORTS = range(1, 65536)


def _servers(value: str) -> str:
    if not all(_is_server(server.strip()) for server in value.split(",")):
        raise ValueError(
            "should be host:port, comma separated, with ports from 1 to 65535 and IPv6 in brackets"
        )
    return value


def _is_server(server: str) -> bool:
    match = _SERVER.fullmatch(server)
    if match is None or (match["port"] is not None and int(match["port"]) not in _PORTS):
        return False
    return match["ipv6"] is None or _is_ipv6(match["ipv6"])


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
        and bool(_HOST.fullmatch(host) or _is_ipv6(host))
    )


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
