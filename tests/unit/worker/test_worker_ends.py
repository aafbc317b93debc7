"""What ends a worker at once is told with the exit code that says who is at fault."""

import json
import sqlite3
from contextlib import closing

import pytest
from aiokafka.errors import CommitFailedError

from streams.observability.failures import (
    EXIT_INVALID_SETTINGS,
    EXIT_SOFTWARE,
    EXIT_UNREACHABLE,
    InfrastructureFailure,
)
from streams.settings import InvalidSettings, Settings
from streams.worker import run_desk, run_server
from streams.worker.process_lifetime import as_infrastructure_failure

SECRET = "Zwaluwstaart-4711"


@pytest.mark.parametrize(
    ("failure", "reason", "exit_code"),
    [
        (InfrastructureFailure("the topic is gone"), "the topic is gone", EXIT_UNREACHABLE),
        (InfrastructureFailure("the pool is broken", EXIT_SOFTWARE), "the pool is broken", EXIT_SOFTWARE),
        (CommitFailedError(SECRET), "Kafka does not work as needed: CommitFailedError", EXIT_UNREACHABLE),
        (InvalidSettings("flow: no"), "flow: no", EXIT_INVALID_SETTINGS),
        (ValueError(SECRET), "ValueError", EXIT_SOFTWARE),
    ],
)
def test_the_reason_quotes_only_what_is_ours_and_the_code_is_that_of_who_is_at_fault(
    failure, reason, exit_code
):
    told = as_infrastructure_failure(failure)
    assert (str(told), told.exit_code) == (reason, exit_code)


@pytest.mark.parametrize(
    ("module", "run"),
    [(run_desk, run_desk.run_desk), (run_server, lambda settings: run_server.run_server(settings, []))],
)
def test_a_disk_that_is_full_ends_desk_and_server_with_one_line(module, run, monkeypatch, worker_log, capsys):
    async def fill_the_disk(*_: object) -> None:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript("PRAGMA max_page_count = 2; CREATE TABLE held (answer TEXT)")
            connection.execute("INSERT INTO held VALUES (?)", ("a" * 100_000,))

    monkeypatch.setattr(module, "_run", fill_the_disk)
    assert run(Settings(log={"format": "json"})) == EXIT_UNREACHABLE
    (line,) = capsys.readouterr().err.splitlines()
    told = json.loads(line)
    assert (told["exit_code"], told["reason"].split()[0]) == (EXIT_UNREACHABLE, "SQLITE_FULL")
