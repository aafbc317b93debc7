"""A scoring process that is told to end while it is being started does not stay behind."""

from __future__ import annotations

import multiprocessing
from typing import Any

import pytest

from scoring.scorer.scorer import ScorerOptions
from streams.scorers import scoring_process
from streams.scorers.scoring_process import ProcessDied, ScoringProcess


class SlowServer:
    """A fork server that is told to end its process while it makes it."""

    def __init__(self) -> None:
        self.process: ScoringProcess
        self.killed = 0
        self.pid: int | None = None
        self.exitcode = -9

    def Pipe(self) -> tuple[Any, Any]:  # noqa: N802 - as multiprocessing calls it
        return multiprocessing.Pipe()

    def Process(self, **_: object) -> SlowServer:  # noqa: N802 - the same
        return self

    def start(self) -> None:
        self.process.close()
        self.pid = 1

    def kill(self) -> None:
        self.killed += 1

    def join(self, _: float) -> None:
        """End at once."""


def test_a_process_made_after_its_end_was_asked_for_is_killed(monkeypatch):
    monkeypatch.setattr(scoring_process, "_END_SECONDS", 0.01)
    server = SlowServer()
    server.process = ScoringProcess(server, "paper", ScorerOptions(), 10)  # type: ignore[arg-type]
    with pytest.raises(ProcessDied):
        server.process.start()
    assert server.killed == 1
