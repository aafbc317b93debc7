"""Answers are judged by batch files: requests out, replies in, round by round, until there are opinions."""

import json
from pathlib import Path
from typing import Any

import pytest

from scoring.judges.opinion_json import OpinionForm
from tests.support.commands import truthgate_here
from tests.unit.judges.judges_support import ANSWER, DOCUMENT, FALSE, QUESTION, TRUE

SECRET = "the rater's own words"
ASKED = {"question": QUESTION, "answer": ANSWER, "document_ids": ["invoices"], "language": "en"}
RATED = {**ASKED, "rating": 1, "rating_second": 2, "label": "FALSE", "consistent": False, "note": SECRET}
OTHER = {**ASKED, "answer": "Open the invoice and press Delete.", "rating": 5}


def written(path: Path, *rows: dict[str, Any] | str) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


class Batch:
    """One file of answers, judged by a method; the replies are scripted by the name of the form."""

    def __init__(self, folder: Path, method: str, *rows: dict[str, Any] | str) -> None:
        self.folder = folder
        self.answers = written(folder / "answers.jsonl", *rows)
        page = {"document_id": "invoices", "language": "en", "title": "Invoices", "text": DOCUMENT}
        self.documents = written(folder / "documents.jsonl", page)
        self.output = folder / "out.jsonl"
        self.replies: list[Path] = []
        self._with = ("--documents", self.documents, "--method", method, "--output", self.output)

    def export(self, *options: str | Path) -> Any:
        return truthgate_here("judge", "export", self.answers, *self._with, *options)

    def bring(self, *options: str | Path) -> Any:
        given = [part for path in self.replies for part in ("--replies", path)]
        return truthgate_here("judge", "import", self.answers, *self._with, *given, *options)

    def reply(self, *lines: dict[str, Any] | str) -> None:
        self.replies.append(written(self.folder / f"replies{len(self.replies)}.jsonl", *lines))

    @property
    def lines(self) -> list[dict[str, Any]]:
        return read(self.output)


def replied(request: dict[str, Any], script: dict[str, Any] = FALSE, **choice: Any) -> dict[str, Any]:
    form = request["body"]["response_format"]["json_schema"]["name"]
    message = {"role": "assistant", "content": json.dumps(script[form])}
    body = {
        "model": "m-1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message, **choice}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
    response = {"status_code": 200, "request_id": "r", "body": body, "seconds": 0.5}
    return {"id": "b", "custom_id": request["custom_id"], "response": response, "error": None}


def failed(request: dict[str, Any], status: int, code: str) -> dict[str, Any]:
    response = {"status_code": status, "body": {"error": {"code": code, "message": code}}}
    return {"custom_id": request["custom_id"], "response": response, "error": None}


def test_ratings_and_what_else_people_say_change_no_byte_of_the_requests(tmp_path):
    batch = Batch(tmp_path, "sequential", RATED)
    batch.export()
    rated = batch.output.read_bytes()
    written(batch.answers, ASKED)
    batch.export()
    assert batch.output.read_bytes() == rated


def test_a_method_of_one_round_has_its_opinions_after_one_import(tmp_path):
    batch = Batch(tmp_path, "single", {**RATED, "answer_id": "a-1"}, {**OTHER, "answer_id": "a-2"})
    batch.export()
    first, second = batch.lines
    batch.reply(replied(second, TRUE), replied(first))
    done = batch.bring()
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "truthgate: 2 opinions, complete: no more requests"
    untrue, true = batch.lines
    assert (untrue["answer_id"], true["answer_id"]) == ("a-1", "a-2")
    opinion = OpinionForm.model_validate_json(json.dumps(untrue["opinion"])).opinion(ANSWER)
    assert (opinion.label, opinion.score, opinion.models) == ("FALSE", 2, ("m-1",))
    assert [each.text for each in opinion.wrong] == ["30 days"]
    assert (opinion.usage.tokens_in, opinion.usage.tokens_out, opinion.usage.seconds) == (100, 10, 0.5)
    assert true["opinion"]["label"] == "TRUE"
    assert "30 days" not in batch.output.read_text()


@pytest.mark.parametrize(("method", "rounds"), [("sequential", 3), ("faithfulness", 2), ("round-table", 2)])
def test_a_method_of_many_rounds_writes_the_next_requests_until_there_are_opinions(tmp_path, method, rounds):
    split = {"Comparison": {**TRUE["Comparison"], "relation": "missing"}}
    batch = Batch(tmp_path, method, RATED, OTHER)
    batch.export("--judge-option", "agents=2")
    for number in range(rounds):
        lines = batch.lines
        last = number == rounds - 1
        # At the round table the seats disagree at first.
        scripts = [FALSE | split if last or index % 2 else TRUE | split for index in range(len(lines))]
        batch.reply(*map(replied, lines, scripts))
        done = batch.bring("--judge-option", "agents=2")
        assert done.returncode == 0
        assert all(("custom_id" in line) is not last for line in batch.lines)
    assert [line["opinion"]["method"] for line in batch.lines] == [method, method]
    assert {line["opinion"]["label"] for line in batch.lines} == {"FALSE"}


def test_what_failed_or_is_missing_is_asked_again_and_given_up_only_when_so_asked(tmp_path):
    rows = [{**OTHER, "answer": f"{OTHER['answer']} {number}"} for number in range(3)]
    batch = Batch(tmp_path, "single", *rows)
    batch.export()
    good, bad, missing = batch.lines
    expired = {"custom_id": missing["custom_id"], "response": None, "error": {"code": "batch_expired"}}
    batch.reply(replied(good, TRUE), failed(bad, 500, "server_error"), expired)
    done = batch.bring()
    assert [line["custom_id"] for line in batch.lines] == [bad["custom_id"], missing["custom_id"]]
    assert "2 requests failed" in done.stderr
    assert "2 requests to send next, for 2 of 3 answers" in done.stderr
    batch.reply(replied(bad, TRUE))
    assert batch.bring("--give-up").returncode == 0
    assert [line["opinion"]["unsure"] for line in batch.lines] == [None, None, "no_reply"]


def test_a_filter_and_a_refusal_are_replies_that_say_nothing(tmp_path):
    batch = Batch(tmp_path, "single", ASKED, OTHER)
    batch.export()
    first, second = batch.lines
    refusal = replied(second, message={"role": "assistant", "content": None, "refusal": "No."})
    batch.reply(failed(first, 400, "content_filter"), refusal)
    assert batch.bring().returncode == 0
    assert [line["opinion"]["unsure"] for line in batch.lines] == ["refused", "refused"]


def test_of_two_replies_to_one_request_the_first_counts_and_strange_ones_are_told(tmp_path):
    batch = Batch(tmp_path, "single", ASKED)
    batch.export()
    (request,) = batch.lines
    strange = {**replied(request), "custom_id": "0" * 32}
    batch.reply(failed(request, 429, "rate_limit"), replied(request, TRUE), strange)
    batch.reply(replied(request, FALSE))
    done = batch.bring()
    assert done.returncode == 1
    assert batch.lines[0]["opinion"]["label"] == "TRUE"
    assert "1 reply to unknown requests" in done.stderr
    assert "1 repeated reply: the first one counts" in done.stderr


DEEP = '{"custom_id": "x", "response": ' + "[" * 3_000 + "]" * 3_000 + "}"
HUGE = '{"custom_id": "x", "response": {"status_code": 200, "body": ' + "9" * 5_000 + "}}"


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "[]",
        "{}",
        '{"custom_id": 5}',
        '{"custom_id": ""}',
        '{"custom_id": "x", "custom_id": "y"}',
        '{"custom_id": "x", "response": {"status_code": "200"}}',
        '{"custom_id": "x", "response": {"status_code": 200, "seconds": -1}}',
        '{"custom_id": "x", "response": {"status_code": 200, "body": NaN}}',
        '{"custom_id": "x", "response": {"status_code": 200, "body": "\\ud800"}}',
        DEEP,
        HUGE,
    ],
)
def test_bad_lines_are_named_by_number_and_the_others_count(tmp_path, line):
    batch = Batch(tmp_path, "single", ASKED)
    batch.export()
    batch.reply(line, replied(batch.lines[0]))
    done = batch.bring()
    assert done.returncode == 1
    assert f"{batch.replies[0]}, line 1: " in done.stderr
    assert batch.lines[0]["opinion"]["label"] == "FALSE"


@pytest.mark.parametrize(
    "body",
    [None, "text", [], {}, {"choices": []}, {"choices": [{"message": {"content": 5}}]}, {"choices": [None]}],
)
def test_a_body_that_is_no_completion_is_asked_again(tmp_path, body):
    batch = Batch(tmp_path, "single", ASKED)
    batch.export()
    (request,) = batch.lines
    reply = {"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}}
    batch.reply(reply)
    done = batch.bring()
    assert batch.lines == [request]
    assert "1 request failed" in done.stderr


def test_a_reply_that_is_not_of_the_form_is_repaired_once_in_a_round_of_its_own(tmp_path):
    batch = Batch(tmp_path, "single", ASKED)
    batch.export()
    (request,) = batch.lines
    hostile = {"role": "assistant", "content": '{"label": "TRUE", "confidence": 1}'}
    batch.reply(replied(request, message=hostile))
    batch.bring()
    (repair,) = batch.lines
    assert repair["custom_id"] != request["custom_id"]
    batch.reply(replied(repair, message=hostile))
    batch.bring()
    assert batch.lines[0]["opinion"]["unsure"] == "malformed"


def test_judges_of_several_models_are_asked_each_by_its_own(tmp_path):
    batch = Batch(tmp_path, "round-table", ASKED)
    batch.export("--judge-option", "judges=small,large", "--model", "large=m-70", "--model", "m-7")
    assert [line["body"]["model"] for line in batch.lines] == ["m-7", "m-70"]


def test_a_judge_that_the_settings_name_is_asked_by_its_model(tmp_path):
    config = tmp_path / "truthgate.toml"
    config.write_text('[judges.endpoints.small]\nbase_url = "http://vllm:8000/v1"\nmodel = "m-7"\n')
    batch = Batch(tmp_path, "single", ASKED)
    for options, model in (((), "m-7"), (("--model", "m-8"), "m-8"), (("--model", "small=m-9"), "m-9")):
        batch.export("--judge-option", "judges=small", "--config", config, *options)
        assert batch.lines[0]["body"]["model"] == model


def test_examples_are_read_from_a_file(tmp_path):
    example = {"question": "q", "reference": "r", "answer": "so it is", "label": "TRUE", "score": 5}
    examples = written(tmp_path / "examples.jsonl", example)
    batch = Batch(tmp_path, "single", ASKED)
    assert batch.export("--judge-option", f"examples={examples}").returncode == 0
    assert "so it is" in batch.lines[0]["body"]["messages"][1]["content"]
    written(examples, {"question": "q"})
    assert batch.export("--judge-option", f"examples={examples}").returncode == 2


def test_answers_are_compared_with_the_answer_that_a_test_set_expects_and_need_no_documents(tmp_path):
    answers = written(tmp_path / "a.jsonl", {**ASKED, "expected_answer": "Press Delete."}, ASKED)
    output = tmp_path / "out.jsonl"
    given = ("judge", "export", answers, "--reference", "expected", "-m", "single", "-o", output)
    done = truthgate_here(*given)
    assert done.returncode == 1
    assert f"{answers}, line 2: expected_answer: is missing" in done.stderr
    (line,) = read(output)
    system, user = (message["content"] for message in line["body"]["messages"])
    assert "[expected answer " in user
    assert "Press Delete." in user
    assert "[document" not in user
    assert "means the same" in system or "mean the same" in system
    replies = written(tmp_path / "r.jsonl", replied(line))
    importing = ("import", *given[2:], "--replies", replies)
    assert truthgate_here("judge", *importing).returncode == 1
    assert read(output)[0]["opinion"]["label"] == "FALSE"
