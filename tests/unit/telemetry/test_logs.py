"""Log lines: complete, levelled, without false alarms, and without customers' texts."""

import json
import logging
import os
import pty
import re
import subprocess
import sys
from datetime import datetime
from functools import cache

import pytest
from aiokafka.errors import (
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    IllegalGenerationError,
    KafkaConnectionError,
    RebalanceInProgressError,
)

from streams.observability.logs import FalseAlarmFilter, PrivacyFilter

SECRET = "the-customers-own-words"

# In a process of its own, since logging is set up once for a whole process.
_PROGRAM = """
import logging, sys
import structlog
from streams.settings import LogSettings
from streams.observability.logs import configure_logging

log = structlog.get_logger("streams.example")
configure_logging(LogSettings(level=sys.argv[1], format=sys.argv[2]))
question = sys.argv[3]

def fail(question):
    inner = [question]
    raise LookupError("code 7")

log.debug("ours_debug")
log.info("ours_info", partition=3, text="a line\\nand another")
log.warning("ours_warning")
logging.getLogger("aiokafka.conn").info("theirs_info")
logging.getLogger("faust.app").warning("theirs %s", "warning")
for report in (log.exception, logging.getLogger("elsewhere").exception):
    try:
        fail(question)
    except LookupError:
        report("failed")
"""


_LIBRARIES = """
import asyncio, logging, sys, threading
from streams.settings import LogSettings
from streams.observability.logs import configure_logging

configure_logging(LogSettings(format=sys.argv[1]))
text = sys.argv[2]
library = logging.getLogger("library")

def inner():
    raise ValueError(text) from OSError(2, "No such file or directory", "lexicon")

async def abandoned():
    inner()

async def main():
    task = asyncio.create_task(abandoned())
    await asyncio.sleep(0)
    del task

library.error("crashed: %s", ValueError(text))
library.error("crashed: %(error)r", {"error": ValueError(text)})
library.warning("took %s of help", text.encode())
try:
    inner()
except ValueError:
    library.exception("failed")
try:
    open("lexicon")
except OSError:
    library.exception("no file")
asyncio.run(main())
thread = threading.Thread(target=inner)
thread.start()
thread.join()
"""

_TRACED = """
import logging
import structlog
from opentelemetry.trace import NonRecordingSpan, SpanContext, use_span
from streams.settings import LogSettings
from streams.observability.logs import configure_logging

configure_logging(LogSettings())
log = structlog.get_logger("streams.example")
context = SpanContext(0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331, is_remote=False)
log.info("before")
with use_span(NonRecordingSpan(context)):
    log.info("ours")
    logging.getLogger("aiokafka").warning("theirs")
"""


@cache
def run(level: str, form: str = "json") -> list[str]:
    return _run(_PROGRAM, level, form, SECRET)


def _run(program: str, *arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, timeout=60, check=True
    )
    assert done.stdout == b""
    return done.stderr.decode().splitlines()


def test_every_line_is_one_json_object_with_time_level_and_name():
    lines = [json.loads(line) for line in run("info")]
    for line in lines:
        assert datetime.fromisoformat(line["timestamp"]).utcoffset() is not None
        assert line["level"] in {"info", "warning", "error"}
        assert line["logger"]
    info = lines[0]
    assert (info["event"], info["partition"], info["text"]) == ("ours_info", 3, "a line\nand another")
    assert (info["logger"], info["level"]) == ("streams.example", "info")


@pytest.mark.parametrize(
    ("level", "events"),
    [
        ("debug", ["ours_debug", "ours_info", "ours_warning", "theirs warning", "failed", "failed"]),
        ("info", ["ours_info", "ours_warning", "theirs warning", "failed", "failed"]),
        ("error", ["failed", "failed"]),
    ],
)
def test_the_level_counts_for_all_and_everyday_lines_of_libraries_stay_out(level, events):
    assert [json.loads(line)["event"] for line in run(level)] == events


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_traceback_names_the_failure_and_shows_no_variables(form):
    output = "\n".join(run("debug", form))
    assert output.count("LookupError: code 7") == 1  # ours; a library's may quote what it was given
    assert len(re.findall(r"LookupError(?!\()", output)) == 2  # from Python 3.13 on beside the line of code
    assert output.count("in fail") == 2
    assert SECRET not in output


@pytest.mark.parametrize(("form", "is_json"), [("auto", True), ("console", False)])
def test_no_line_of_a_library_says_what_customers_write(form, is_json):
    lines = _run(_LIBRARIES, form, SECRET)
    assert all(line.startswith("{") for line in lines) is is_json  # auto, and no terminal
    output = "\n".join(lines)
    assert SECRET not in output
    for kept in (
        "crashed: ValueError",
        "took <23 bytes> of help",
        "Task exception was never retrieved",
        "A thread failed",
        "FileNotFoundError: [Errno 2] No such file or directory: 'lexicon'",
        "in inner",
    ):
        assert kept in output, kept


def test_a_line_names_the_trace_that_it_belongs_to_whoever_writes_it():
    lines = [json.loads(line) for line in _run(_TRACED)]
    traces = {line["event"]: (line.get("trace_id"), line.get("span_id")) for line in lines}
    inside = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    assert traces == {"before": (None, None), "ours": inside, "theirs": inside}


@pytest.mark.parametrize(("form", "is_json"), [("auto", False), ("json", True)])
def test_a_terminal_gets_readable_lines_unless_the_settings_say_otherwise(form, is_json):
    ours, terminal = pty.openpty()
    program = [sys.executable, "-c", _PROGRAM, "info", form, SECRET]
    with subprocess.Popen(program, stderr=terminal) as process:
        process.wait(60)
    line = os.read(ours, 65_536).decode().splitlines()[0]
    os.close(ours)
    os.close(terminal)
    assert line.startswith("{") is is_json
    assert "ours_info" in line


@pytest.mark.parametrize(
    "library", ["httpcore.http11", "httpcore2.http11", "httpx", "httpx2", "urllib3.connectionpool"]
)
def test_no_url_of_a_client_is_logged_at_any_level(library, worker_log):
    for level in (logging.DEBUG, logging.INFO):
        logging.getLogger(library).log(level, "GET %s", f"/translate?q={SECRET}")
    assert SECRET not in worker_log.text
    logging.getLogger(library).warning("a retry")
    assert "a retry" in worker_log.text


COORDINATOR = "aiokafka.consumer.group_coordinator"


def _record(name: str, message: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord(name, logging.ERROR, "", 1, message, arguments, None)


HARMLESS = [
    (COORDINATOR, "Group Coordinator Request failed: %s", GroupCoordinatorNotAvailableError()),
    ("aiokafka.producer.sender", "FindCoordinator Request failed: %s", GroupCoordinatorNotAvailableError()),
    (COORDINATOR, "Heartbeat failed for group %s because it is rebalancing", "gate"),
    (COORDINATOR, "Marking the coordinator dead (node %s)for group %s.", "1", "gate"),
    (
        COORDINATOR,
        "OffsetCommit failed for group %s due to group error (%s), will rejoin",
        "gate",
        RebalanceInProgressError("gate"),
    ),
]


@pytest.mark.parametrize("line", HARMLESS)
def test_what_every_rebalance_and_first_start_says_is_for_debugging_alone(line):
    assert not FalseAlarmFilter(logging.INFO).filter(_record(*line))
    record = _record(*line)
    assert FalseAlarmFilter(logging.DEBUG).filter(record)
    assert (record.levelno, record.levelname) == (logging.DEBUG, "DEBUG")


@pytest.mark.parametrize(
    "line",
    [
        (COORDINATOR, "Group Coordinator Request failed: %s", GroupAuthorizationFailedError("gate")),
        (
            COORDINATOR,
            "OffsetCommit failed for group %s due to group error (%s), will rejoin",
            "gate",
            IllegalGenerationError("gate"),
        ),
        (COORDINATOR, "Heartbeat session expired - marking coordinator dead"),
        ("somebody.else", "Heartbeat failed for group %s because it is rebalancing", "gate"),
    ],
)
def test_what_does_not_mend_itself_stays_an_error(line):
    record = _record(*line)
    assert FalseAlarmFilter(logging.INFO).filter(record)
    assert record.levelno == logging.ERROR


@pytest.mark.parametrize(
    ("error", "reported"),
    [(TimeoutError(), "TimeoutError"), (OSError("refused"), "refused"), ("as it is", "as it is")],
)
def test_an_error_without_a_text_is_reported_by_its_type(error, reported):
    message = "Unable connect to node with id %s: %s"
    record = logging.LogRecord("aiokafka", logging.ERROR, "", 1, message, (1, error), None)
    assert PrivacyFilter().filter(record)
    assert record.getMessage() == f"Unable connect to node with id 1: {reported}"


@pytest.mark.parametrize(("error", "written"), [(KafkaConnectionError(), False), (ValueError(), True)])
def test_only_aiokafkas_own_abandoned_futures_are_left_out(error, written):
    record = _record("asyncio", "Future exception was never retrieved\nfuture: <Future finished>")
    record.exc_info = (type(error), error, None)
    assert FalseAlarmFilter(logging.DEBUG).filter(record) is written
