"""Log lines are for machines and operators: whole, levelled, and without what customers write."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from functools import cache

import pytest

SECRET = "the-customers-own-words"

# In a process of its own, since logging is set up once for a whole process.
_PROGRAM = """
import logging, sys
import structlog
from streams.settings import LogSettings
from streams.telemetry.logs import configure

log = structlog.get_logger("streams.example")
configure(LogSettings(level=sys.argv[1], format=sys.argv[2]))
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


@cache
def run(level: str, form: str = "json") -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, level, form, SECRET], capture_output=True, timeout=60, check=True
    )
    assert done.stdout == b""
    return done.stderr.decode().splitlines()


def test_every_line_is_one_json_object_with_time_level_and_name() -> None:
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
def test_the_level_counts_for_all_and_everyday_lines_of_libraries_stay_out(
    level: str, events: list[str]
) -> None:
    assert [json.loads(line)["event"] for line in run(level)] == events


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_traceback_names_the_failure_and_shows_no_variables(form: str) -> None:
    output = "\n".join(run("debug", form))
    assert output.count("LookupError: code 7") == 2
    assert "in fail" in output
    assert SECRET not in output
