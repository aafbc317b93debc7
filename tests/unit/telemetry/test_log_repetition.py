"""Repeated log lines: one of a kind per interval, and the number of the others."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable

from aiokafka.errors import NodeNotReadyError, TopicAuthorizationFailedError

from streams.observability.log_repetition import RepetitionFilter

NOT_READY = NodeNotReadyError("Attempt to send a request to node which is not ready")


class Timers:
    """Timers that fire when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, Callable[[], None]]] = []
        self.daemon = False

    def __call__(self, seconds: float, action: Callable[[], None]) -> "Timers":
        self.waiting.append((seconds, action))
        return self

    def start(self) -> None:
        """Start to wait."""

    def cancel(self) -> None:
        """Wait no longer."""

    def fire(self) -> None:
        """Let all intervals end."""
        waiting, self.waiting = self.waiting, []
        for _, action in waiting:
            action()


class Log:
    """A filter, and what was written through it."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, int | None]] = []
        self.timers = Timers()
        self._filter = RepetitionFilter(self._write, self.timers)

    def _write(self, record: logging.LogRecord) -> None:
        if self._filter.filter(record):
            self.lines.append((record.getMessage(), getattr(record, "left_out", None)))

    def library(self, name: str, message: str, *arguments: object, line: int = 1) -> None:
        self._write(logging.LogRecord(name, logging.ERROR, "", line, message, arguments, None))

    def own(self, event: str, **fields: object) -> None:
        self._write(logging.makeLogRecord({"name": "streams.own", "msg": {"event": event, **fields}}))


def test_a_broker_that_is_gone_is_one_line_per_interval_whoever_meets_it():
    log = Log()
    for _ in range(50):
        log.library("aiokafka", "Unable connect to node with id %s: %s", 1, ConnectionRefusedError())
        log.library("aiokafka", "Unable to update metadata from %s", [1])
        log.library("aiokafka.consumer.fetcher", "Failed fetch messages from %s: %s", 1, NOT_READY)
    assert len(log.lines) == 1
    log.timers.fire()
    assert log.lines[1:] == [(f"Failed fetch messages from 1: {NOT_READY}", 148)]
    log.library("aiokafka", "Unable to update metadata from %s", [1])
    log.timers.fire()
    assert log.lines[2:] == [("Unable to update metadata from [1]", 0)]


def test_another_failure_is_not_lost_among_them():
    log = Log()
    log.library("aiokafka", "Unable to update metadata from %s", [1])
    refused = TopicAuthorizationFailedError("answers")
    log.library("aiokafka.consumer.fetcher", "Failed fetch messages from %s: %s", 1, refused, line=7)
    log.library("aiokafka.consumer.fetcher", "Something else", line=8)
    assert len(log.lines) == 3


def test_a_quiet_interval_ends_without_a_line_and_the_next_line_is_written_at_once():
    log = Log()
    log.library("faust", "one")
    log.timers.fire()
    log.library("faust", "one")
    assert log.lines == [("one", None)] * 2


def test_exporters_get_one_line_a_minute_and_kafka_one_each_ten_seconds():
    log = Log()
    log.library("opentelemetry.exporter", "away")
    log.library("opentelemetry.sdk", "away, too")
    log.library("grpc._channel", "away")
    log.library("aiokafka", "Unable to update metadata from %s", [1])
    assert [seconds for seconds, _ in log.timers.waiting] == [60, 60, 10]


def test_bad_records_are_counted_by_error_and_what_an_operator_did_is_always_written():
    log = Log()
    for offset in range(5_000):
        log.own("dead_letter", stage="decode", error_type="NotAvro", offset=offset)
    log.own("dead_letter", stage="score", error_type="ValueError", offset=5_000)
    log.timers.fire()
    assert len(log.lines) == 3
    assert "'left_out': 4998" in log.lines[2][0]
    for _ in range(3):
        log.own("sending_paused", by="somebody")
    assert len(log.lines) == 6


_BURST = """
import logging
import structlog
from streams.settings import LogSettings
from streams.observability.logs import configure_logging

configure_logging(LogSettings())
log = structlog.get_logger("streams.example")
for offset in range(5_000):
    log.warning("dead_letter", stage="decode", error_type="NotAvro", offset=offset)
    logging.getLogger("aiokafka").error("Unable to update metadata from %s", [1])
"""


def test_a_process_that_ends_writes_what_it_left_out():
    done = subprocess.run([sys.executable, "-c", _BURST], capture_output=True, timeout=60, check=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(line["event"], line.get("left_out")) for line in lines] == [
        ("dead_letter", None),
        ("Unable to update metadata from [1]", None),
        ("dead_letter", 4_998),
        ("Unable to update metadata from [1]", 4_998),
    ]
    assert lines[2]["offset"] == 4_999
