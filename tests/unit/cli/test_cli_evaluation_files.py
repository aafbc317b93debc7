"""What an evaluation leaves behind: JSON of a published schema, CSV, a summary and a plot."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from docs.generate.reference.reference_files import EVALUATION_SCHEMA
from scoring.evaluation.cases import EvaluationCase
from scoring.evaluation.report import report
from scoring.values.exchange import Decision, MessageType
from scoring.values.opinion import Label
from streams.cli.evaluate.evaluation_files import write_csv
from streams.cli.evaluate.evaluation_summary import next_step
from tests.support.commands import truthgate_here
from tests.unit.cli.test_cli_evaluate import TRUE, UNTRUE, opined, written

SENT, REVIEW, BLOCKED = Decision


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """Give answers with all that people can say of one: enough of them for intervals."""
    return written(
        tmp_path / "rated.jsonl",
        *({**TRUE, "answer_id": f"t-{n}", "rating": 5, "rating_second": 4} for n in range(11)),
        *({**UNTRUE, "answer_id": f"u-{n}", "rating": 1, "rating_second": 1} for n in range(11)),
        {**TRUE, "answer_id": "mean", "rating": 3.67, "rating_first": 4, "label": "TRUE", "consistent": True},
    )


def closed(schema: Any) -> Any:
    """Give a schema that refuses fields which it does not name."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(each) for name, each in schema.items()}
    return {"additionalProperties": False, **inner} if "properties" in schema else inner


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json.loads(EVALUATION_SCHEMA.read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(closed(schema))


def faults(validator: Draft202012Validator, text: str) -> list[str]:
    return [f"{each.json_path}: {each.message}" for each in validator.iter_errors(json.loads(text))]


def test_all_that_a_report_can_have_is_in_its_schema_and_nothing_else(rated, tmp_path, validator):
    opinions = opined(tmp_path / "o.jsonl", ("t-0", TRUE, {"consistency": 0.9, "relevance": 1.0}))
    other = ("--auto-send-at", "3", "--opinions", opinions, "--flip", "0.5")
    done = truthgate_here("evaluate", rated, "--json", *other)
    assert done.returncode == 0
    assert faults(validator, done.stdout) == []
    found = json.loads(done.stdout)
    assert found["what_if"]["other"]["auto_send_at"] == 3
    assert found["judges"][0]["simulated"]
    assert found["runs"][0]["summary"]["auroc"]["low"] is not None


def test_a_report_of_little_has_its_schema_too(tmp_path, validator):
    done = truthgate_here("evaluate", written(tmp_path / "one.jsonl", {**TRUE, "rating": 5}), "--json")
    assert faults(validator, done.stdout) == []
    damaged = json.loads(done.stdout)
    del damaged["runs"][0]["summary"]
    damaged |= {"rated": "one", "unheard_of": 1}
    told = faults(validator, json.dumps(damaged))
    assert sorted(told) == [
        "$.rated: 'one' is not of type 'integer'",
        "$.runs[0]: 'summary' is a required property",
        "$: Additional properties are not allowed ('unheard_of' was unexpected)",
    ]


def test_answers_are_written_as_csv_with_their_features(rated, tmp_path):
    table = tmp_path / "answers.csv"
    done = truthgate_here("evaluate", rated, "--profile", "paper", "--profile", "truthgate", "--csv", table)
    assert done.returncode == 0
    with table.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [row["run"] for row in rows] == ["paper"] * 23 + ["truthgate"] * 23
    last = rows[-1]
    said = ("answer_id", "language", "message_type", "rating", "rating_first", "rating_second", "truth")
    assert [last[name] for name in said] == ["mean", "en", "binary", "3.67", "4.0", "", "TRUE"]
    blocked = next(row for row in rows if row["answer_id"] == "u-0" and row["run"] == "truthgate")
    assert (blocked["decision"], blocked["truth"], blocked["components_defined"]) == (
        "blocked",
        "FALSE",
        "0.0",
    )
    assert "undefined_component" in blocked["reasons"].split()
    assert 1 <= float(blocked["score"]) < float(last["score"]) <= 5
    assert TRUE["answer"] not in table.read_text("utf-8")


@pytest.mark.parametrize("answer_id", ['=HYPERLINK("x")', "+1", "-1", "@SUM(A1)", "\t=1"])
def test_an_id_of_another_is_no_formula_in_a_spreadsheet(tmp_path, answer_id):
    table = tmp_path / "answers.csv"
    write_csv(table, {"truthgate": [case(4.0, 5, answer_id=answer_id), case(None, None)]})
    with table.open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert first["answer_id"] == f"'{answer_id}"
    assert (second["answer_id"], second["score"], second["rating"]) == ("a-1", "", "")


def test_a_file_that_cannot_be_written_is_named_before_anything_is_scored(rated, tmp_path):
    for path, told in ((tmp_path / "none" / "a.csv", "No such file or directory"), (rated, "--csv")):
        done = truthgate_here("evaluate", rated, "--csv", path)
        assert done.returncode == 2
        assert told in done.stderr
        assert done.stderr.count("\n") == 1
    assert rated.read_text().startswith("{")


def case(
    score: float | None, rating: float | None, decision: Decision = REVIEW, **other: Any
) -> EvaluationCase:
    known = {
        "answer_id": "a-1",
        "recognised": MessageType.BINARY,
        "language": "en",
        "reasons": ("high_score",),
    }
    return EvaluationCase(score=score, rating=rating, decision=decision, **{**known, **other})


TRUES, UNTRUES = [case(4.5, 5)] * 12, [case(2.0, 1)] * 12


@pytest.mark.parametrize(
    ("cases", "step"),
    [
        (TRUES[:9] + UNTRUES, "rate more answers, so that at least 10 are true and as many untrue"),
        ([*TRUES, *UNTRUES, case(5.0, 1, SENT)], "see why 1 untrue answer would be sent (Misrouted, below)"),
        (
            [*TRUES, *UNTRUES, case(1.0, 5, BLOCKED)],
            "see why 1 true answer would be blocked (Misrouted, below)",
        ),
        (
            TRUES + UNTRUES,
            "try --auto-send-at 2.1: 12 of 24, 50% [31, 69] of the answers score so, and none is untrue",
        ),
        (
            [case(4.5, 5, SENT)] * 12 + UNTRUES,
            "nothing is misrouted: try the policy on answers that it was not made on",
        ),
        (
            [case(4.5, 5)] * 12 + [case(5.0, 1)] * 12,
            "nothing is misrouted: try the policy on answers that it was not made on",
        ),
    ],
)
def test_the_next_step_is_about_what_is_worst(cases, step):
    assert next_step(report({"truthgate": cases}).runs[0]) == step


def test_every_profile_has_ten_lines_of_summary_and_the_plot_a_line_of_risk(rated, tmp_path):
    plot = tmp_path / "both.svg"
    profiles = ("--profile", "paper", "--profile", "truthgate")
    done = truthgate_here("evaluate", rated, *profiles, "--plot", plot)
    lines = done.stdout.splitlines()
    assert [lines.index(f"Summary, profile {name}") for name in profiles[1::2]] == [0, 10]
    assert lines[20] == ""
    assert lines[1] == "rated             23: 12 true, 11 untrue, 0 neither"
    assert "untrue of sent" in plot.read_text("utf-8")


def test_labels_count_before_ratings():
    cases = [*TRUES, *UNTRUES, case(5.0, 5, SENT, label=Label.FALSE)]
    assert next_step(report({"truthgate": cases}).runs[0]).startswith("see why 1 untrue answer")
