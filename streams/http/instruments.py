"""What is counted and measured of requests for verdicts."""

from __future__ import annotations

from streams.telemetry.instruments import ERROR_TYPE, Instruments, Label

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class RequestTelemetry:
    """The instruments of judging over HTTP."""

    def __init__(self, instruments: Instruments) -> None:
        self._duration = instruments.histogram(
            "http.server.request.duration",
            "Time from a request for a verdict to its answer, by status and, without a verdict, by what is "
            "wrong; its count is that of the requests.",
            "429: `truthgate_requests_in_flight`, `truthgate_scoring_queue`; 500, 503: the log lines "
            "`answer_not_judged`, `request_failed`, `verdict_not_published`; slow: "
            "`truthgate_stage_duration_seconds` by stage.",
            Label("http.request.method"),
            Label("http.route"),
            Label("http.response.status_code"),
            ERROR_TYPE,
            bounds=_SECONDS,
            unit="s",
        )
        self.in_flight = instruments.gauge(
            "truthgate.requests_in_flight",
            "Requests for verdicts that are in work.",
            "At `web.verdicts.max_in_flight`: `truthgate_scoring_queue`, more processes or replicas.",
            unit="{request}",
        )

    def observe(self, method: str, route: str, status: int, code: str | None, seconds: float) -> None:
        """Measure one request; ``code`` names the problem it was answered with, if any."""
        self._duration.record(seconds, method, route, str(status), code or "")
