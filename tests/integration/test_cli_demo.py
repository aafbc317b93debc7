"""The demo judges the whole sample and leaves nothing behind, however it ends."""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.support.commands import clean_environment, command
from tests.support.desk import Reviewer

DEADLINE_SECONDS = 400.0


def start(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a demo whose temporary files, and whose processes' working folder, are the test's own."""
    with (tmp_path / "stderr").open("w") as told:
        return subprocess.Popen(
            command("demo", "--port", "0", *arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=told,
            env=clean_environment({"TMPDIR": str(tmp_path), "TRUTHGATE_DESK__PORT": "0"}),
            text=True,
        )


def processes_of(tmp_path: Path) -> list[psutil.Process]:
    """Find every process that was started with the test's folder for temporary files."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("TMPDIR") == str(tmp_path) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def assert_nothing_is_left(tmp_path: Path) -> None:
    end = time.monotonic() + 30
    while (left := processes_of(tmp_path)) and time.monotonic() < end:
        time.sleep(0.1)
    assert [process.cmdline() for process in left] == []


def read_verdicts(demo: subprocess.Popen[str], count: int) -> list[str]:
    assert demo.stdout
    return [demo.stdout.readline() for _ in range(count)]


@pytest.mark.timeout(DEADLINE_SECONDS)
def test_every_answer_of_the_sample_is_judged_and_nothing_stays(tmp_path: Path) -> None:
    demo = start(tmp_path, "--rate", "0")
    shown, _ = demo.communicate(timeout=DEADLINE_SECONDS)
    told = (tmp_path / "stderr").read_text()
    assert demo.returncode == 0, told
    assert sum(not line.startswith(" ") for line in shown.splitlines()) == 86, "claims are indented"
    assert "86 answers scored: " in told
    assert "1 dead letter, 0 lost" in told
    assert told.count(page_of(tmp_path)) >= 3  # health, page and metrics at the start, the page at the end
    assert f"{page_of(tmp_path)}metrics" in told
    assert_nothing_is_left(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["stderr"]


@pytest.mark.timeout(DEADLINE_SECONDS)
@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_a_demo_that_is_asked_to_end_clears_everything_away(tmp_path: Path, asked: signal.Signals) -> None:
    demo = start(tmp_path)
    assert all(read_verdicts(demo, 2))
    demo.send_signal(asked)
    demo.communicate(timeout=60)
    assert demo.returncode == 130
    assert (tmp_path / "stderr").read_text().endswith("truthgate: interrupted\n")
    assert_nothing_is_left(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["stderr"]


def page_of(tmp_path: Path) -> str:
    """Give the address of the page that the demo told."""
    (address,) = re.findall(
        r"blocked answers: (http://127\.0\.0\.1:\d+/) ", (tmp_path / "stderr").read_text()
    )
    return str(address)


def answers_on(page: str, *, more_than: int) -> int:
    """Wait until the page counts more answers than that, and give how many."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        live = httpx2.get(f"{page}api/live", trust_env=False).json()
        counted = max((point["answers"] for point in live["series"][0]["points"]), default=0)
        if counted > more_than:
            return int(counted)
        time.sleep(0.2)
    raise AssertionError(f"the page does not get on: {live}")


@pytest.mark.timeout(DEADLINE_SECONDS)
def test_the_page_shows_rates_that_move_and_a_demo_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    demo = start(tmp_path)
    assert all(read_verdicts(demo, 2))
    page = page_of(tmp_path)
    assert answers_on(page, more_than=answers_on(page, more_than=0)) > 1
    assert httpx2.get(f"{page}api/answers", trust_env=False).json()["texts"] is True
    assert len(processes_of(tmp_path)) > 2
    demo.kill()
    demo.communicate(timeout=60)
    assert_nothing_is_left(tmp_path)


@pytest.mark.timeout(DEADLINE_SECONDS)
def test_a_kafka_that_dies_ends_the_demo_within_15_seconds(tmp_path: Path) -> None:
    demo = start(tmp_path, "--rate", "1")
    assert all(read_verdicts(demo, 1))
    (broker,) = (
        each
        for each in processes_of(tmp_path)
        if "kafka.Kafka" in each.cmdline()[:-1] and "java" in each.name()
    )
    broker.kill()
    began = time.monotonic()
    demo.communicate(timeout=60)
    assert time.monotonic() - began < 15
    assert demo.returncode == 70
    assert "truthgate: Kafka ended; the whole log is" in (tmp_path / "stderr").read_text()
    assert_nothing_is_left(tmp_path)


@pytest.mark.timeout(DEADLINE_SECONDS)
def test_a_worker_that_dies_ends_the_demo_with_the_reason(tmp_path: Path) -> None:
    demo = start(tmp_path, "--rate", "1")
    assert all(read_verdicts(demo, 1))
    for process in processes_of(tmp_path):
        if process.cmdline()[-1] == "worker":
            os.kill(process.pid, signal.SIGKILL)
    demo.communicate(timeout=60)
    assert demo.returncode == 70
    assert "the worker ended with exit code -9" in (tmp_path / "stderr").read_text()
    assert_nothing_is_left(tmp_path)


@pytest.mark.timeout(2 * DEADLINE_SECONDS)
def test_a_visitor_decides_at_the_desk_and_the_simulated_reviewer_then_stops(tmp_path: Path) -> None:
    demo = start(tmp_path, "--desk")
    assert all(read_verdicts(demo, 1))
    told = tmp_path / "stderr"
    (address,) = re.findall(r"the review desk: (http://127\.0\.0\.1:\d+/)", told.read_text())
    reviews = re.compile(r'truthgate_desk_reviews_total\{outcome="(?:send|reject)"\} [1-9]')
    with Reviewer(address, "visitor") as visitor:
        assert within(lambda: reviews.search(visitor.look("/metrics")))
        visitor.look()
        assert visitor.shown
        assert "can be undone" in visitor.decide("reject")
    assert within(lambda: "the simulated reviewer has stopped: you decide" in told.read_text())
    demo.send_signal(signal.SIGINT)
    demo.communicate(timeout=60)
    assert demo.returncode == 130
    assert_nothing_is_left(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["stderr"]


@pytest.mark.timeout(4 * DEADLINE_SECONDS)
def test_ratings_become_a_policy_that_sends_and_is_withdrawn_when_the_chatbot_gets_worse(
    tmp_path: Path,
) -> None:
    demo = start(tmp_path, "--desk", "--rate", "0")
    verdicts: list[str] = []
    assert demo.stdout
    reading = threading.Thread(target=lambda: verdicts.extend(demo.stdout or ()))
    reading.start()
    told = tmp_path / "stderr"
    withdrawn = re.compile(
        r"has withdrawn the policy: (\d+) mistakes in \d+ audited answers: more than 10\.0%"
    )
    assert within(lambda: withdrawn.search(told.read_text()) or demo.poll() is not None, 3 * DEADLINE_SECONDS)
    assert withdrawn.search(told.read_text()), told.read_text()
    before, _, _ = told.read_text().partition(" decides from now on")
    assert "mistakes, 95% sure" in before, "the certificate"
    assert re.search(r"  10%  4\d of 86 ", before), "what is sent of all"
    (desk,) = re.findall(r"the review desk: (http://127\.0\.0\.1:\d+/)", before)
    with Reviewer(desk, "lead") as lead:
        assert within(lambda: "more than 10.0%" in lead.look("/lead/policies"))
    demo.send_signal(signal.SIGINT)
    assert demo.wait(60) == 130
    reading.join(60)
    demo.stdout.close()
    sent = [line for line in verdicts if "low risk" in line]
    held = [line for line in verdicts if "policy withdrawn" in line]
    assert len(sent) > 40, "the true ones, and some of the worse"
    assert held, "what comes after the withdrawal waits for a person"
    assert_nothing_is_left(tmp_path)


def within(found: Callable[[], object], seconds: float = 120) -> bool:
    end = time.monotonic() + seconds
    while not found() and time.monotonic() < end:
        time.sleep(0.2)
    return bool(found())
