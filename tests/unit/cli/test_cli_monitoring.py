"""``truthgate monitoring``: where it writes, from which settings, and what is missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.commands import truthgate_here


def test_rules_are_written_to_standard_output() -> None:
    done = truthgate_here(
        "monitoring", "rules", "--job", "gate", "--runbook-url", "https://wiki.example/gate"
    )
    assert done.returncode == 0
    assert yaml.safe_load(done.stdout)["groups"]
    assert 'up{job="gate"}' in done.stdout
    assert "https://wiki.example/gate#truthgatenocommit" in done.stdout


def test_the_dashboard_is_written_to_a_file(tmp_path: Path) -> None:
    output = tmp_path / "dashboard.json"
    done = truthgate_here("monitoring", "dashboard", "--job", "gate", "--output", output)
    assert (done.returncode, done.stdout) == (0, "")
    job = next(each for each in json.loads(output.read_text())["templating"]["list"] if each["name"] == "job")
    assert job["current"]["value"] == "gate"


def test_a_file_is_written_where_its_link_leads_and_the_link_stays(tmp_path: Path) -> None:
    link, output = tmp_path / "link.json", tmp_path / "dashboard.json"
    link.symlink_to(output)
    for _ in range(2):
        assert truthgate_here("monitoring", "dashboard", "--output", link).returncode == 0
        assert json.loads(output.read_text())["title"] == "truthgate"
    assert link.is_symlink()
    assert sorted(tmp_path.iterdir()) == [output, link]


def test_settings_come_from_the_environment() -> None:
    environment = {"TRUTHGATE_OBJECTIVES__VERDICT_WITHIN_SECONDS": "7"}
    assert (
        "Verdicts take longer than 7s"
        in truthgate_here("monitoring", "rules", environment=environment).stdout
    )


def test_a_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    done = truthgate_here("monitoring", "rules")
    assert done.returncode == 2
    assert done.stderr == "truthgate: this needs yaml: pip install 'truthgate[monitoring]'\n"
    assert truthgate_here("monitoring", "dashboard").returncode == 0


@pytest.mark.parametrize("command", ["rules", "dashboard"])
def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path, command: str) -> None:
    done = truthgate_here("monitoring", command, "--output", tmp_path / "missing" / "file")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_job_that_cannot_stand_in_a_query_is_one_line() -> None:
    done = truthgate_here("monitoring", "rules", "--job", 'a"b')
    assert done.returncode == 2
    assert "--job" in done.stderr
