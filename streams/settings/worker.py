"""Sections ``flow``, ``web`` and ``health``: how a worker works, what it serves, when it is hung."""

from __future__ import annotations

from pydantic import Field

from streams.settings.base import Seconds, Section


class FlowSettings(Section):
    """How much is in work at once, and how long one answer may take in all."""

    max_in_flight: int = Field(256, ge=1, le=10_000)
    answer_timeout_seconds: Seconds = Field(60, description="after this an answer goes to review as it is")
    commit_interval_seconds: Seconds = 1
    session_timeout_seconds: Seconds = 45
    max_poll_records: int = Field(200, ge=1, le=10_000)


class WebSettings(Section):
    """Where health, readiness, metrics and the page for people are served."""

    host: str = "0.0.0.0"  # noqa: S104 - probes and Prometheus come from outside the pod
    port: int = Field(6066, ge=0, le=65535)
    page: bool = Field(True, description="off: no page at / and no data for it")
    texts: bool = Field(
        False,
        description="the page shows blocked answers with their questions to whoever can reach it; "
        "off: it shows ids, reasons and the kinds of evidence",
    )


class HealthSettings(Section):
    """When a worker counts as hung, and what ends it then."""

    stall_timeout_seconds: Seconds = Field(
        180, description="lag without a commit for this long is a hung worker"
    )
    kafka_timeout_seconds: Seconds = Field(
        10, description="Kafka that has not answered for this long makes a worker unready"
    )
    check_interval_seconds: Seconds = 5
