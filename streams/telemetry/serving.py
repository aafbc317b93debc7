"""Attributes of spans about requests, by OpenTelemetry's semantic conventions for HTTP servers.

Neither the client's address nor what it says of itself is among them: both may tell who a person is.
"""

from __future__ import annotations

from opentelemetry.util.types import AttributeValue

Attributes = dict[str, AttributeValue]


def handling(method: str, route: str, scheme: str) -> Attributes:
    """Describe the handling of one request."""
    return {"http.request.method": method, "http.route": route, "url.path": route, "url.scheme": scheme}


def answered(status: int, code: str | None) -> Attributes:
    """Say what a request was answered with; ``code`` names the problem, if there was one."""
    told: Attributes = {"http.response.status_code": status}
    return told if code is None else {**told, "error.type": code}
