"""Files of rated answers are evaluated; what is wrong with them is named."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streams.cli.entry import run
from streams.cli.evaluate import extras
from tests.support.commands import truthgate, truthgate_here

TRUE = {
    "question": "Can I save?",
    "answer": "Yes, click **Save**.",
    "language": "en",
    "message_type": "binary",
}
CONTEXT = [{"document_id": "d-1", "title": "Saving", "text": "Click **Save** to save."}]
UNTRUE = {**TRUE, "answer": "Yes, click **Keep**."}


def written(path: Path, *lines: dict[str, Any] | str) -> Path:
    rows = [line if isinstance(line, str) else json.dumps({"context": CONTEXT, **line}) for line in lines]
    path.write_text("\n".join(rows))
    return path


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """Give a file with two true answers, two untrue ones, one unrated and two bad lines."""
    return written(
        tmp_path / "rated.jsonl",
        {**TRUE, "rating": 5, "rating_second": 5},
        {**UNTRUE, "rating": 1, "rating_second": 2},
        TRUE,
        {**TRUE, "rating": 6},
        {**TRUE, "rating": 4, "message_type": "riddle"},
        {**TRUE, "rating": 4},
        {**UNTRUE, "rating": 2},
    )


def test_bad_and_unrated_lines_are_named_and_the_rest_is_evaluated_and_drawn(
    rated: Path, tmp_path: Path
) -> None:
    plot = tmp_path / "rated.svg"
    done = truthgate("evaluate", rated, "--json", "--plot", plot)
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert f"{rated}, line 4: rating: should be less than or equal to 5" in done.stderr
    assert f"{rated}, line 5: message_type: should be one of error, " in done.stderr
    assert "1 answers have no rating (line 3)" in done.stderr
    assert found["files"] == [{"file": str(rated), "bad_lines": 2, "unrated_lines": [3]}]
    assert (found["answers"], found["rated"], found["labelled"]) == (5, 4, 5)
    everything = found["runs"][0]["correlations"][0]
    assert everything["counted_out"] == [{"reason": "unrated", "count": 1}]
    assert everything["spearman"]["value"] > 0.8
    assert found["runs"][0]["deviations"][0]["ratings"][0]["score_1"]["count"] == 1
    assert found["agreement"]["answers"] == 2
    assert "<svg" in plot.read_text()
    assert TRUE["answer"] not in done.stdout + done.stderr
    assert list(tmp_path.glob("*.part")) == []


def test_the_tables_are_those_of_the_paper(rated: Path) -> None:
    shown = truthgate_here("evaluate", rated).stdout
    headings = ("Table III", "Table IV", "Table V", "Routing", "Each feature alone", "Two raters on 2")
    assert [heading for heading in headings if heading not in shown] == []


def test_answers_that_take_too_long_are_counted_and_the_exit_code_is_1(tmp_path: Path) -> None:
    file = written(tmp_path / "late.jsonl", {**TRUE, "rating": 5}, {**UNTRUE, "rating": 1})
    done = truthgate_here("evaluate", file, environment={"TRUTHGATE_SCORING__TIMEOUT_SECONDS": "0.000001"})
    assert done.returncode == 1
    assert done.stderr == (
        "truthgate: 2 answers took longer to score than they may (scoring.timeout_seconds): "
        "degraded scoring_timeout\n"
    )


def test_one_rating_for_all_gives_tables_without_a_correlation_and_no_warning(tmp_path: Path) -> None:
    file = written(tmp_path / "same.jsonl", *[{**TRUE, "answer_id": f"a-{n}", "rating": 5} for n in range(4)])
    done = truthgate_here("evaluate", file, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["runs"][0]["correlations"][0]["spearman"] is None


def test_documents_are_given_once_for_all_files_or_once_for_each(tmp_path: Path) -> None:
    asked = {**TRUE, "context": [], "document_ids": ["d-1"], "rating": 5}
    files = [written(tmp_path / f"{name}.jsonl", {**asked, "answer_id": name}) for name in "ab"]
    rows = [{"document_id": "d-1", "language": "en", "title": "Saving", "text": text} for text in ("x", "y")]
    given = [written(tmp_path / f"d{index}.jsonl", json.dumps(row)) for index, row in enumerate(rows)]
    for documents, code in (((given[0],), 0), (given, 0), ((*given, given[0]), 2)):
        options = [part for each in documents for part in ("--documents", each)]
        assert truthgate_here("evaluate", *files, *options, "--json").returncode == code


def test_answers_that_are_repeated_are_told_since_intervals_take_them_for_new_ones(tmp_path: Path) -> None:
    line = {**TRUE, "answer_id": "a-1", "rating": 5}
    done = truthgate_here("evaluate", written(tmp_path / "twice.jsonl", line, line), "--json")
    assert "1 answer ids are repeated" in done.stderr


@pytest.mark.parametrize("lines", [(), ({"question": "q", "answer": "a"},)])
def test_a_file_that_rates_nothing_is_no_input(tmp_path: Path, lines: tuple[dict[str, str], ...]) -> None:
    done = truthgate_here("evaluate", written(tmp_path / "unrated.jsonl", *lines))
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing to evaluate" in done.stderr


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--plot", "x.pdf"), "should end in .png or .svg"),
        (("--plot", "/nowhere/x.svg"), "no such folder"),
        (("--translate", "both"), "no translator is configured"),
        (("--translate", "maybe"), "maybe"),
    ],
)
def test_wrong_usage_is_one_line_before_anything_is_judged(
    rated: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], complaint: str
) -> None:
    assert run(["evaluate", str(rated), *options]) == 2
    shown = capsys.readouterr().err
    assert complaint in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize(
    ("package", "extra", "options"), [("scipy", "evaluate", ()), ("matplotlib", "plot", ("--plot", "x.svg"))]
)
def test_an_extra_that_is_not_installed_is_named(
    rated: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    package: str,
    extra: str,
    options: tuple[str, ...],
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == package else name)
    assert run(["evaluate", str(rated), *options]) == 2
    assert capsys.readouterr().err == f"truthgate: this needs {package}: pip install 'truthgate[{extra}]'\n"


def test_neither_the_worker_nor_the_command_line_imports_what_only_an_evaluation_needs() -> None:
    code = (
        "import sys, streams.worker.run, streams.cli.entry; print({'scipy', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert done.stdout.decode().strip() == "set()"
