"""Files of rated answers are evaluated; what is wrong with them is named."""

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from schemas import ChatbotAnswer, Verdict
from scoring.evaluation.routing import Misrouted
from scoring.values.exchange import Decision
from scoring.values.opinion import Label, Opinion, UnsureReason, Usage
from streams.cli import command_output
from streams.cli.command_output import InputErrors, progress_bar
from streams.cli.entry import run
from streams.cli.evaluate.evaluation_tables import misrouted_table
from streams.cli.evaluate.rated_files import RatedFile
from streams.llm.batches import AnswerKey, opinion_line
from streams.observability.failures import BadAnswer, Stage
from tests.support.commands import truthgate, truthgate_here
from tests.support.rates import sample_verdict

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


def test_bad_and_unrated_lines_are_named_and_the_rest_is_evaluated_and_drawn(rated, tmp_path):
    plot = tmp_path / "rated.svg"
    done = truthgate("evaluate", rated, "--json", "--plot", plot)
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert f"{rated}, line 4: rating: should be less than or equal to 5" in done.stderr
    assert f"{rated}, line 5: message_type: should be one of error, " in done.stderr
    assert "1 answer without a rating (line 3)" in done.stderr
    assert found["files"] == [{"file": str(rated), "bad_lines": 2, "unrated_lines": [3]}]
    assert (found["answers"], found["rated"], found["labelled"]) == (5, 4, 5)
    everything = found["runs"][0]["correlations"][0]
    assert everything["counted_out"] == [{"reason": "unrated", "count": 1}]
    assert everything["spearman"]["value"] > 0.8
    assert found["runs"][0]["deviations"][0]["ratings"][0]["below_3"]["count"] == 1
    assert found["agreement"]["answers"] == 2
    assert "<svg" in plot.read_text()
    assert TRUE["answer"] not in done.stdout + done.stderr
    assert list(tmp_path.glob("*.part")) == []


def test_the_papers_profile_has_the_companys_words_whatever_the_settings_name(tmp_path):
    pages = [
        {"document_id": f"d-{n}", "language": "en", "title": "A", "text": f"Payslip {n}."} for n in range(20)
    ]
    documents = tmp_path / "documents.jsonl"
    documents.write_text("\n".join(map(json.dumps, pages)))
    file = written(tmp_path / "rated.jsonl", {**TRUE, "rating": 5}, {**UNTRUE, "rating": 1})
    done = truthgate_here("evaluate", file, "--documents", documents, "--profile", "paper", "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)["runs"][0]["features"][0]["rows"]}
    assert rows["company_terms"]["answers"] == 2


TITLE = "How do I save the whole file?"
GUIDE = f"# {TITLE}\n\n1. Open the menu **File**.\n2. Click **Save**.\n3. Choose a folder for it."


def test_two_profiles_stand_side_by_side_with_what_each_sent_and_blocked(tmp_path):
    """The guide that is quoted is sent by both; the button that no document has is found by both."""
    quoting = {
        "question": TITLE,
        "answer": GUIDE.partition("\n\n")[2],
        "language": "en",
    }
    context = [{"document_id": "d-1", "title": TITLE, "text": GUIDE}]
    documents = tmp_path / "documents.jsonl"
    documents.write_text(json.dumps({**context[0], "language": "en", "auto_send": True}))
    file = written(
        tmp_path / "rated.jsonl",
        {**quoting, "context": context, "answer_id": "wrongly-sent", "rating": 1},
        {**UNTRUE, "answer_id": "wrongly-blocked", "rating": 5},
        {**UNTRUE, "answer_id": "caught", "rating": 1},
        {**TRUE, "rating": 6},
    )
    profiles = ("--documents", documents, "--profile", "paper", "--profile", "truthgate")
    plot = tmp_path / "profiles.svg"
    done = truthgate_here("evaluate", file, *profiles, "--json", "--plot", plot)
    assert done.returncode == 1
    assert done.stderr.count("line 4: rating") == 1
    found = json.loads(done.stdout)
    assert found["profiles"] == [run["name"] for run in found["runs"]] == ["paper", "truthgate"]
    assert (found["answers"], found["decisions"][0]["answers"]) == (3, 3)
    for run_ in found["runs"]:
        assert [each["answer_id"] for each in run_["misrouted"]] == ["wrongly-sent", "wrongly-blocked"]
        sending = run_["sendings"][0]["sending"]
        assert (sending["untrue_of_sent"]["count"], sending["untrue_of_sent"]["total"]) == (1, 1)
        assert (sending["true"]["blocked"]["count"], sending["untrue"]["blocked"]["count"]) == (1, 1)
        checks = {row["reason"]: row for row in run_["checks"][0]["rows"]}
        undefined, quoted = checks["undefined_component"], checks["verbatim_document"]
        hits = [row[side]["count"] for row in (undefined, quoted) for side in ("untrue", "true")]
        assert hits == [1, 1, 1, 0]
    assert "unknown_number" not in {row["reason"] for row in found["runs"][0]["checks"][0]["rows"]}
    assert "profile truthgate" in plot.read_text()
    shown = truthgate_here("evaluate", file, *profiles).stdout
    parts = ("profile paper (rows)", "Gain by profile truthgate", "wrongly-sent")
    assert [part for part in parts if part not in shown] == []


def test_means_of_ratings_and_two_raters_are_read(tmp_path):
    file = written(
        tmp_path / "rated.jsonl",
        {**TRUE, "rating": 4.67, "rating_first": 5, "rating_second": 4},
        {**UNTRUE, "rating": 1.5},
        {**TRUE, "rating": 5.1},
    )
    done = truthgate_here("evaluate", file, "--json")
    assert done.stderr == f"truthgate: {file}, line 3: rating: should be less than or equal to 5\n"
    found = json.loads(done.stdout)
    assert (found["rated"], found["agreement"]["exact"]["count"]) == (2, 0)
    assert found["runs"][0]["sendings"][0]["sending"]["true"]["answers"] == 1


async def test_an_answer_that_one_profile_fails_on_is_named_once_and_in_no_table(rated, capsys):
    async def judging(answer: ChatbotAnswer) -> Verdict:
        known = {"answer_id": answer.answer_id, "profile": "paper", "message_type": "binary"}
        return sample_verdict(1, datetime.now(UTC), **known)

    async def failing(answer: ChatbotAnswer) -> Verdict:
        if answer.answer == UNTRUE["answer"]:
            raise BadAnswer(Stage.SCORE, "ProcessExpired", "died")
        return await judging(answer)

    source = RatedFile(rated, InputErrors("rated"))
    for function in (judging, failing):
        await source.score([function], 2, progress_bar("judging", None))
    assert [len(line.cases) for line in source.lines or ()] == [2, 2, 2]
    assert capsys.readouterr().err.count("failed on this answer: ProcessExpired") == 2
    assert source.errors.count == 4


def test_of_many_answers_that_went_wrong_a_terminal_shows_the_first_and_the_count():
    found = [
        Misrouted(f"a-{number}\x1b[2J", "nl", 5, Decision.BLOCKED, 1.0, ("undefined_component",))
        for number in range(23)
    ]
    console = Console(file=StringIO(), width=100)
    console.print(replace(misrouted_table(found), variant="profile paper"))
    shown = console.file.getvalue()
    assert "Misrouted: 23 answers, profile paper" in shown
    assert "a-19" in shown
    assert "a-20" not in shown
    assert "and 3 more" in shown
    assert "\x1b" not in shown


def test_answers_that_take_too_long_are_counted_and_the_exit_code_is_1(tmp_path):
    file = written(tmp_path / "late.jsonl", {**TRUE, "rating": 5}, {**UNTRUE, "rating": 1})
    done = truthgate_here("evaluate", file, environment={"TRUTHGATE_SCORING__TIMEOUT_SECONDS": "0.000001"})
    assert done.returncode == 1
    assert done.stderr == (
        "truthgate: 2 answers exceeded scoring.timeout_seconds: degraded scoring_timeout\n"
    )


def test_documents_are_given_once_for_all_files_or_once_for_each(tmp_path):
    asked = {**TRUE, "context": [], "document_ids": ["d-1"], "rating": 5}
    files = [written(tmp_path / f"{name}.jsonl", {**asked, "answer_id": name}) for name in "ab"]
    rows = [{"document_id": "d-1", "language": "en", "title": "Saving", "text": text} for text in ("x", "y")]
    given = [written(tmp_path / f"d{index}.jsonl", json.dumps(row)) for index, row in enumerate(rows)]
    for documents, code in (((given[0],), 0), (given, 0), ((*given, given[0]), 2)):
        options = [part for each in documents for part in ("--documents", each)]
        assert truthgate_here("evaluate", *files, *options, "--json").returncode == code


@pytest.mark.parametrize(
    ("package", "extra", "options"), [("scipy", "evaluate", ()), ("matplotlib", "plot", ("--plot", "x.svg"))]
)
def test_an_extra_that_is_not_installed_is_named(rated, capsys, monkeypatch, package, extra, options):
    monkeypatch.setattr(command_output, "find_spec", lambda name: None if name == package else name)
    assert run(["evaluate", str(rated), *options]) == 2
    assert capsys.readouterr().err == f"truthgate: this needs {package}: pip install 'truthgate[{extra}]'\n"


def opined(path: Path, *answers: tuple[str, dict[str, Any], dict[str, Any]]) -> Path:
    """Write one opinion a line on answers under their ids."""
    rows = []
    for answer_id, line, others in answers:
        record = ChatbotAnswer(answer_id, answer_id, line["question"], line["answer"], datetime.now(UTC))
        label = others.pop("label", Label.TRUE)
        given = Opinion("single", ("m-1",), "p-1", label, **{"confidence": 0.95, "score": 4.0} | others)
        rows.append(json.dumps(opinion_line(AnswerKey.of(record), given)))
    path.write_text("\n".join(rows))
    return path


@pytest.fixture
def answered(tmp_path: Path) -> Path:
    """Give a file with a true answer, an untrue one that the checks block, and one in two languages."""
    return written(
        tmp_path / "answered.jsonl",
        {**TRUE, "answer_id": "a-1", "rating": 5, "relevant": True},
        {**UNTRUE, "answer_id": "a-2", "rating": 1},
        {**TRUE, "answer_id": "a-2", "answer": "Yes, you can save.", "rating": 4},
    )


def test_opinions_are_compared_with_people_side_by_side_and_drawn(answered, tmp_path):
    third = {**TRUE, "answer": "Yes, you can save."}
    good = opined(
        tmp_path / "good.jsonl",
        ("a-1", TRUE, {"relevance": 1.0, "consistency": 1.0}),
        ("a-2", UNTRUE, {"label": Label.FALSE, "score": 1.0, "consistency": 0.0}),
        ("a-2", third, {"usage": Usage(1, 100, 10, 0.5)}),
    )
    poor = opined(tmp_path / "poor.jsonl", ("a-1", TRUE, {"label": Label.FALSE, "score": 2.0}))
    plot = tmp_path / "judges.svg"
    options = ("--opinions", good, "--opinions", poor, "--flip", "0.5", "--tau", "0.9", "--plot", plot)
    done = truthgate_here("evaluate", answered, *options, "--json")
    assert done.returncode == 0
    assert f"{poor}: 2 answers without an opinion, excluded from its tables" in done.stderr
    found = json.loads(done.stdout)
    assert found["opinions"] == [{"file": str(path), "bad_lines": 0} for path in (good, poor)]
    first, second = found["judges"]
    assert (first["name"], first["methods"], first["models"]) == ("good", ["single"], ["m-1"])
    assert first["labels"]["macro"]["value"] == 1
    assert second["labels"]["macro"]["value"] == 0
    assert first["dimensions"]["consistency"]["value"] == first["dimensions"]["relevance"]["value"] == 1
    assert [each["flipping"] and each["flipping"]["confidence"] for each in first["simulated"]] == [
        None,
        "honest",
        "overconfident",
    ]
    at_tau = next(row for row in first["sending"] if row["tau"] == 0.9)
    assert (at_tau["true_sent"]["count"], at_tau["untrue_blocked"]["count"]) == (2, 1)
    assert "the cascade" in plot.read_text()
    shown = truthgate_here("evaluate", answered, *options).stdout
    headings = ("002, Table 1", "Figure 6a", "Figure 6b", "004, Table II", "004, Table V", "The cascade")
    assert [heading for heading in headings if heading not in shown] == []


def test_malformed_and_unsure_opinions_are_counted_on_standard_error(answered, tmp_path):
    malformed = {"label": None, "confidence": 0.0, "score": None, "unsure": UnsureReason.MALFORMED}
    third = {**TRUE, "answer": "Yes, you can save."}
    answers = (("a-1", TRUE, malformed), ("a-2", UNTRUE, {"confidence": 0.5}), ("a-2", third, {}))
    done = truthgate_here("evaluate", answered, "--opinions", opined(tmp_path / "o.jsonl", *answers))
    assert done.stderr.endswith(
        f"truthgate: {tmp_path}/o.jsonl: 1 of 3 opinions without a label: the reply was not of the "
        f"requested form\ntruthgate: {tmp_path}/o.jsonl: 1 of 3 opinions with a confidence below 0.9\n"
    )


def test_neither_the_worker_nor_the_command_line_imports_what_only_an_evaluation_needs():
    imports = "import sys, streams.worker.run_worker, streams.cli.entry"
    code = f"{imports}; print({{'scipy', 'matplotlib'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert done.stdout.decode().strip() == "set()"
