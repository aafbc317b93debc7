"""Answers of a file that are in doubt are asked about where judges are named, within the budget."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from streams.llm.budget_file import BUDGET_FILE_NAME
from streams.storage.directory import lock_directory
from tests.support.commands import truthgate_here
from tests.support.llm_endpoint import LlmEndpoint

WRONG = "a pink sheet"


def opinion(_: Mapping[str, Any]) -> str:
    """Call an answer untrue, for its words about the sheet."""
    wrong = [{"words": WRONG, "kind": "entity"}]
    return json.dumps({"label": "FALSE", "confidence": 0.95, "score": 1.5, "wrong": wrong})


@pytest.fixture
def endpoint() -> Iterator[LlmEndpoint]:
    with LlmEndpoint(opinion) as endpoint:
        yield endpoint


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Give a file of five answers that the checks leave for review, each about something else."""
    passage = {"document_id": "d-1", "title": "Saving", "text": "Click **Save** to save a sheet."}
    lines = [
        {
            "answer_id": f"a-{number}",
            "question": f"Can I save sheet {number}?",
            "answer": f"Yes, click **Save** to get {WRONG}.",
            "context": [passage],
            "language": "en",
        }
        for number in range(5)
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return file


def judged(
    answers: Path, endpoint: LlmEndpoint, settings: str = "", environment: Mapping[str, str] | None = None
) -> tuple[list[dict[str, Any]], str, int]:
    """Give the verdicts, what was told on standard error, and the exit code."""
    config = answers.with_name("truthgate.toml")
    config.write_text(
        f'[judges.endpoints.small]\nbase_url = "{endpoint.url}"\nmodel = "small"\n{settings}',
        "utf-8",
    )
    done = truthgate_here("score", answers, "--config", config, environment=environment)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr, done.returncode


def test_an_answer_in_doubt_has_an_opinion_that_decides(answers, endpoint):
    verdicts, told, code = judged(answers, endpoint)
    assert (told, code) == ("", 0)
    assert len(endpoint.asked) == len(verdicts) == 5
    for verdict in verdicts:
        assert (verdict["decision"], verdict["reasons"][0]) == ("blocked", "judged_untrue")
        (said,) = verdict["opinions"]
        assert (said["method"], said["label"], said["confidence"]) == ("single", "FALSE", 0.95)
        assert [each["text"] for each in said["evidence"]] == [WRONG]


def test_nobody_is_asked_where_nobody_is_named(answers, endpoint):
    done = truthgate_here("score", answers)
    assert endpoint.asked == []
    assert {line["decision"] for line in map(json.loads, done.stdout.splitlines())} == {"review"}
    assert '"opinions": []' in done.stdout or '"opinions":[]' in done.stdout


def test_what_the_budget_is_spent_for_goes_to_review_and_is_told_and_counts_for_each_run(answers, endpoint):
    for run in (1, 2):
        verdicts, told, code = judged(answers, endpoint, "[judges.budget]\nrequests_per_day = 2\n")
        decisions = sorted(verdict["decision"] for verdict in verdicts)
        assert decisions == ["blocked"] * 2 + ["review"] * 3
        assert told == (
            "truthgate: 3 answers in doubt without an opinion: judges.budget is spent: "
            "degraded judge_budget_spent\n"
        )
        assert (code, len(endpoint.asked)) == (0, 2 * run)


@pytest.mark.parametrize(
    ("reply", "reason", "told"),
    [
        ("I would say that it is true.", "judge_malformed", "'s reply was not of the requested form"),
        (
            '{"label": "FALSE", "confidence": 0.4, "score": 1.5, "wrong": []}',
            "judge_not_confident",
            " was not confident enough",
        ),
    ],
)
def test_replies_that_decide_nothing_are_counted_by_their_reason(answers, reply, reason, told):
    with LlmEndpoint(lambda _: reply) as endpoint:
        verdicts, said, code = judged(answers, endpoint)
    assert {(verdict["decision"], verdict["reasons"][0]) for verdict in verdicts} == {("review", reason)}
    assert said == f"truthgate: 5 answers in doubt, and the language model{told}: {reason}\n"
    assert code == 0


def test_an_endpoint_that_is_away_leaves_the_answers_for_review(answers, endpoint):
    endpoint.stop()
    verdicts, told, code = judged(answers, endpoint)
    assert {verdict["decision"] for verdict in verdicts} == {"review"}
    assert {verdict["degraded"][-1] for verdict in verdicts} == {"judge_unavailable"}
    assert told == (
        "truthgate: 5 answers in doubt without an opinion: no language model replied "
        "(small: connection_refused: nothing listens at its address, or at the proxy's): "
        "degraded judge_unavailable\n"
    )
    assert code == 3


def test_a_worker_beside_it_that_has_its_files_locked_is_not_disturbed(answers, endpoint, tmp_path):
    store = tmp_path / "store"
    environment = {"TRUTHGATE_DOCUMENTS__STORE": str(store)}
    with lock_directory(store, f"{BUDGET_FILE_NAME}.lock", "documents.store"):
        before = sorted(store.iterdir())
        verdicts, told, code = judged(answers, endpoint, environment=environment)
        assert sorted(store.iterdir()) == before
    assert (len(verdicts), told, code) == (5, "", 0)
