"""`evaluate --fail-if` ends a run of CI that is worse than it may be."""

import json
from pathlib import Path
from typing import Any

import pytest

from scoring.evaluation.measures import MEASURES
from streams.cli.command_output import CommandFailed, UsageError
from streams.cli.evaluate.fail_if import parse_conditions, read_previous
from tests.support.commands import truthgate_here

CONTEXT = [{"document_id": "d-1", "title": "Saving", "text": "Click **Save** to save."}]
LINE = {"question": "Can I save?", "language": "en", "message_type": "binary", "context": CONTEXT}


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """Give two true answers, of which a button that does not exist blocks one."""
    file = tmp_path / "rated.jsonl"
    answers = [{**LINE, "answer": f"Yes, click **{button}**.", "rating": 5} for button in ("Save", "Keep")]
    file.write_text("\n".join(map(json.dumps, answers)))
    return file


def report_of(path: Path, **measures: float | None) -> Path:
    summary = {"measures": {**dict.fromkeys(MEASURES), **measures}}
    path.write_text(json.dumps({"runs": [{"summary": summary}]}))
    return path


@pytest.mark.parametrize(
    ("text", "value", "before", "holds"),
    [
        ("untrue > 2%", 0.021, None, True),
        ("untrue > 2%", 0.02, None, False),
        ("untrue >= 2 %", 0.02, None, True),
        ("untrue<0.02", 0.019, None, True),
        ("untrue <= 1", 1.0, None, True),
        ("untrue < 1", 1.0, None, False),
        ("untrue > previous", 0.3, 0.3, False),
        ("untrue > previous", 0.31, 0.3, True),
        ("untrue < previous - 5%", 0.65, 0.7, False),
        ("untrue < previous - 5%", 0.649, 0.7, True),
        ("untrue>previous+0.1", 0.8, 0.7, False),
        ("untrue > previous + 10%", 0.801, 0.7, True),
    ],
)
def test_a_condition_holds_on_the_side_of_its_bound_that_it_names(text, value, before, holds):
    (condition,) = parse_conditions(text)
    failure = condition.failure({"untrue": value}, {"untrue": before})
    assert (failure is not None) is holds
    assert failure is None or failure.startswith(f"{text}: untrue is ")


def test_a_value_that_is_undefined_is_a_failure():
    (condition,) = parse_conditions("auroc < previous")
    assert condition.failure({"auroc": None}, {"auroc": 0.5}) == (
        "auroc < previous: auroc is undefined for these answers"
    )
    assert condition.failure({"auroc": 0.5}, {}) == "auroc < previous: the previous report has no auroc"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "or",
        "untrue",
        "untrue > ",
        "untrue = 2%",
        "untrue == 2%",
        "untrue > 2 percent",
        "untrue > -2%",
        "untrue > 2% or",
        "untrue > 2%, sent < 5%",
        "untrue > 2% and sent < 5%",
        "untrue > previous * 2",
        "untrue > previous 2%",
        "2% < untrue",
        "untrue > 2% or lies > 2%",
        "Untrue > 2%",
    ],
)
def test_what_is_no_condition_is_one_line_and_exit_code_2_and_nothing_is_scored(rated, text):
    done = truthgate_here("evaluate", rated, "--fail-if", text)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("truthgate: --fail-if: ")
    assert done.stderr.count("\n") == 1


def test_an_unknown_measure_is_told_with_those_that_there_are():
    with pytest.raises(UsageError, match=f"'lies' is unknown; known: {', '.join(MEASURES)}"):
        parse_conditions("lies > 2%")


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"runs": []}', '{"runs": [{"summary": {"measures": {}}}]}']
)
def test_a_file_that_is_no_report_is_named(tmp_path, content):
    path = tmp_path / "previous.json"
    path.write_text(content)
    with pytest.raises(CommandFailed, match=r"previous\.json is not a report of evaluate --json"):
        read_previous(path, parse_conditions("sent < previous"))


def test_previous_and_its_report_need_each_other(rated, tmp_path):
    report = report_of(tmp_path / "previous.json", sent=0.5)
    needs_report = truthgate_here("evaluate", rated, "--fail-if", "sent < previous")
    needs_condition = truthgate_here("evaluate", rated, "--fail-if", "sent < 1%", "--previous", report)
    told = [(done.returncode, done.stderr) for done in (needs_report, needs_condition)]
    assert told == [
        (2, "truthgate: --fail-if: 'previous' needs --previous\n"),
        (2, "truthgate: --fail-if: --previous needs 'previous' in --fail-if\n"),
    ]


def test_conditions_that_hold_are_told_one_a_line_with_exit_code_1(rated):
    conditions = "blocked_true > 49% or untrue > 2% or sent_true < 1%"
    done = truthgate_here("evaluate", rated, "--fail-if", conditions)
    assert done.returncode == 1
    assert done.stderr == (
        "truthgate: --fail-if blocked_true > 49%: blocked_true is 0.5, and the bound is 0.49\n"
        "truthgate: --fail-if sent_true < 1%: sent_true is 0, and the bound is 0.01\n"
    )
    assert done.stdout.startswith("Summary\nrated             2: 2 true, 0 untrue, 0 neither\n")


def test_an_earlier_report_is_the_bound_of_the_next(rated, tmp_path):
    first = truthgate_here("evaluate", rated, "--json")
    earlier = tmp_path / "earlier.json"
    earlier.write_text(first.stdout)
    same, worse = (
        truthgate_here("evaluate", rated, "--fail-if", text, "--previous", earlier)
        for text in ("blocked_true > previous or sent < previous - 5%", "blocked_true <= previous + 1%")
    )
    assert (same.returncode, same.stderr) == (0, "")
    assert (worse.returncode, worse.stderr) == (
        1,
        "truthgate: --fail-if blocked_true <= previous + 1%: blocked_true is 0.5, and the bound is 0.51\n",
    )


def test_two_profiles_have_no_one_measure(rated):
    arguments: tuple[Any, ...] = ("--profile", "paper", "--profile", "truthgate", "--fail-if", "untrue > 2%")
    done = truthgate_here("evaluate", rated, *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("truthgate: --fail-if: ")
