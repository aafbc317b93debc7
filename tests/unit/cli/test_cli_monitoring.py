"""``truthgate monitoring``: where it writes, from which settings, and what is missing."""

import json
import sys

from tests.support.commands import truthgate_here


def test_the_dashboard_is_written_to_a_file(tmp_path):
    output = tmp_path / "dashboard.json"
    done = truthgate_here("monitoring", "dashboard", "--job", "gate", "--output", output)
    assert (done.returncode, done.stdout) == (0, "")
    job = next(each for each in json.loads(output.read_text())["templating"]["list"] if each["name"] == "job")
    assert job["current"]["value"] == "gate"


def test_a_file_is_written_where_its_link_leads_and_the_link_stays(tmp_path):
    link, output = tmp_path / "link.json", tmp_path / "dashboard.json"
    link.symlink_to(output)
    for _ in range(2):
        assert truthgate_here("monitoring", "dashboard", "--output", link).returncode == 0
        assert json.loads(output.read_text())["title"] == "truthgate"
    assert link.is_symlink()
    assert sorted(tmp_path.iterdir()) == [output, link]


def test_a_missing_extra_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    done = truthgate_here("monitoring", "rules")
    assert done.returncode == 2
    assert done.stderr == "truthgate: this needs yaml: pip install 'truthgate[monitoring]'\n"
    assert truthgate_here("monitoring", "dashboard").returncode == 0
