"""Judging over HTTP: ``POST /v1/verdicts``, what limits it, and the document that describes it."""

from streams.http.instruments import RequestTelemetry
from streams.http.verdicts import Verdicts

__all__ = ["RequestTelemetry", "Verdicts"]
