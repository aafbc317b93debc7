"""Run the real ``truthgate`` command, in a process of its own or in this one."""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import typer

from streams.cli.entry import run
from streams.scorers.pool import fork_server
from streams.settings import Settings

DEADLINE_SECONDS = 180.0
# Making it of the functions takes longer than most commands do.
_get_command = cache(typer.main.get_command)


def command(*arguments: str | Path) -> list[str]:
    """Give the command line that runs ``truthgate`` with this interpreter."""
    return [sys.executable, "-m", "streams.cli", *map(str, arguments)]


def truthgate(
    *arguments: str | Path, stdin: bytes = b"", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end and give what it wrote; nothing of this process's settings reaches it."""
    done = subprocess.run(
        command(*arguments),
        input=stdin,
        capture_output=True,
        timeout=DEADLINE_SECONDS,
        check=False,
        env=clean_environment(environment),
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def truthgate_here(
    *arguments: str | Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, which has loaded everything, and give what it wrote.

    It takes a tenth of the time; standard input, signals and what is logged need ``truthgate``.
    """
    fork_server(on_demand=False)  # one serves the whole process: what is fast for one answer is slow for many
    output, complaints = StringIO(), StringIO()
    with (
        patch.dict(os.environ, clean_environment(environment), clear=True),
        patch("typer.main.get_command", _get_command),
        redirect_stdout(output),
        redirect_stderr(complaints),
    ):
        code = run([*map(str, arguments)])
    return subprocess.CompletedProcess(arguments, code, output.getvalue(), complaints.getvalue())


def clean_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give this process's environment without settings of truthgate, and with these instead."""
    kept = ("TRUTHGATE_KAFKA_HOME",)
    # readline, which pytest imports, tells processes below it the width of a terminal that they do not have.
    inherited = {
        k: v
        for k, v in os.environ.items()
        if (not k.startswith("TRUTHGATE_") or k in kept) and k != "COLUMNS"
    }
    return {**inherited, **(environment or {})}


def variables(settings: Settings) -> dict[str, str]:
    """Give the environment that leads a command to the cluster and topics of a test."""
    return {
        "TRUTHGATE_KAFKA__BOOTSTRAP_SERVERS": settings.kafka.bootstrap_servers,
        "TRUTHGATE_KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
        "TRUTHGATE_KAFKA__CONSUMER_GROUP": settings.kafka.consumer_group,
        "TRUTHGATE_TOPICS__PARTITIONS": str(settings.topics.partitions),
    }
