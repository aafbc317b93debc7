"""A file is scored line by line: bad lines are named, good ones have verdicts, in order."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas import ChatbotAnswer, KnowledgeDocument, Verdict
from streams.cli.command_files import map_good_lines
from streams.cli.command_output import InputErrors
from streams.cli.entry import run
from streams.observability.failures import BadAnswer, Stage
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import OfflinePipeline, Pipeline
from streams.scorers.options import AsyncScorer
from streams.settings import Settings
from tests.support.commands import truthgate, truthgate_here
from tests.support.scorers import Failing

TINY_VERIFIER = Path(__file__).parents[1] / "scoring" / "verifier" / "tiny"
NOW = datetime(2026, 3, 2, tzinfo=UTC)
ANSWER = ChatbotAnswer("a-1", "c-1", "Can I save?", "Yes, click **Save**.", NOW, document_ids=("d-1",))
DOCUMENT = KnowledgeDocument("d-1", "en", "Saving", "Click **Save**.", NOW)

# Each is malformed in a way of its own; {} is where something random goes.
MALFORMED = [
    "{}",
    "{{{}",
    '["question", "answer", {}]',
    '{{"question": "q{}"}}',
    '{{"answer": "a{}"}}',
    '{{"question": {}, "answer": "a"}}',
    '{{"question": "q", "answer": null, "x": {}}}',
    '{{"question": "q{}", "answer": "a"',
    '{{"question": "q", "answer": "a"}} {}',
    '{{"question": "q", "answer": "a", "context": "{}"}}',
    '{{"question": "q", "answer": "a", "context": [{{"text": "{}"}}]}}',
    '{{"question": "q", "answer": "a", "document_ids": [{}]}}',
    '{{"question": "q", "answer": "a", "produced_at": "day {}"}}',
    '{{"question": "q", "answer": "a", "produced_at": "2026-03-02T09:15:{}00Z"}}',
    '{{"question": "q", "answer": "a", "answer_id": ""}} ',
    '{{"question": "q", "answer": "a", "metadata": [{}]}}',
    '{{"question": "q", "question": "q{}", "answer": "a"}}',
    '{{"question": "\\ud800{}", "answer": "a"}}',
    '{{"question": "q", "answer": "a", "score": NaN, "n": {}}}',
    "question,answer,{}",
    "<answer>{}</answer>",
    '"just text {}"',
    "null",
    "[" * 500 + "{}",
]
RAW = [b"\xff\xfe{}", b"\x00\x01\x02", b"\xc3\x01\xc3\x28", b'{"question": "\xe9", "answer": "a"}']


def malformed(count: int) -> Iterator[bytes]:
    chance = random.Random(3)
    for index in range(count):
        kind = index % (len(MALFORMED) + len(RAW))
        if kind < len(MALFORMED):
            yield MALFORMED[kind].format(chance.randint(1, 10**6)).encode()
        else:
            yield RAW[kind - len(MALFORMED)]


def good(index: int) -> bytes:
    return json.dumps(
        {"answer_id": f"a-{index}", "question": "Can I?", "answer": "Yes, click **Go**."}
    ).encode()


def test_of_1000_malformed_lines_each_is_named_and_the_good_ones_between_are_scored(tmp_path):
    lines: list[bytes] = []
    bad_numbers, good_ids = [], []
    for index, line in enumerate(malformed(1000)):
        lines.append(line)
        bad_numbers.append(len(lines))
        if index % 9 == 0:
            lines.append(good(index))
            good_ids.append(f"a-{index}")
    file = tmp_path / "answers.jsonl"
    file.write_bytes(b"\n".join(lines) + b"\n")
    done = truthgate_here("score", file)
    assert done.returncode == 1
    assert [json.loads(line)["answer_id"] for line in done.stdout.splitlines()] == good_ids
    complaints = done.stderr.splitlines()
    assert len(complaints) == 1000
    prefixes = [f"truthgate: {file}, line {number}: " for number in bad_numbers]
    assert [c for c, prefix in zip(complaints, prefixes, strict=True) if not c.startswith(prefix)] == []
    assert [c for c, prefix in zip(complaints, prefixes, strict=True) if c == prefix.strip()] == []


def test_verdicts_have_the_fields_of_the_contract_and_do_not_depend_on_the_number_of_processes(tmp_path):
    file = tmp_path / "answers.jsonl"
    file.write_bytes(b"\n".join(good(index) for index in range(100)))
    runs = [truthgate_here("score", file, "--processes", count) for count in ("1", "3")]
    assert [run.returncode for run in runs] == [0, 0]
    one, three = ([json.loads(line) for line in run.stdout.splitlines()] for run in runs)
    assert list(one[0]) == list(Verdict.__dataclass_fields__)
    assert {verdict["produced_at"] == verdict["scored_at"] for verdict in (*one, *three)} == {True}
    for verdict in (*one, *three):
        del verdict["scored_at"], verdict["produced_at"]  # the lines have no time, so it is that of the run
    assert one == three


@pytest.mark.parametrize("output", ["answers.jsonl", "link.jsonl", "answers"])
def test_an_output_that_would_overwrite_the_input_is_refused(tmp_path, capsys, output):
    """Under its own name, through a link, and where verdicts are kept until they are whole."""
    file = tmp_path / ("answers.jsonl" if output != "answers" else "answers.part")
    file.write_bytes(good(1))
    (tmp_path / "link.jsonl").symlink_to(file)
    assert run(["score", str(file), "-o", str(tmp_path / output)]) == 2
    shown = capsys.readouterr().err
    assert "would overwrite the input" in shown
    assert shown.count("\n") == 1
    assert file.read_bytes() == good(1)


def answers_by(assessor: AsyncScorer, documents: dict[str, KnowledgeDocument]) -> OfflinePipeline:
    way = Pipeline(StaticDocuments(documents), assessor, Settings().policy.decide, "paper")
    return OfflinePipeline(way, NOW)


async def test_an_answer_that_the_scorer_fails_on_is_one_bad_line(capsys):
    failing = answers_by(Failing(BadAnswer(Stage.SCORE, "ProcessExpired", "died")), {})
    errors = InputErrors("answers.jsonl")
    assert [each async for each in map_good_lines([(7, ANSWER)], failing.verdict, 2, errors)] == []
    assert errors.count == 1
    told = capsys.readouterr().err
    assert "answers.jsonl, line 7: the scorer failed on this answer: ProcessExpired" in told


def test_what_is_logged_on_the_way_never_comes_between_the_verdicts():
    """An answer that is over its time has its process replaced, which is logged, and is counted."""
    # Long ones: of a short one the outcome may be there before it is seen that its time is over.
    lines = b"\n".join(
        json.dumps({**json.loads(good(number)), "answer": "De factuur staat klaar. " * 2_000}).encode()
        for number in range(2)
    )
    done = truthgate(
        "score", "-", stdin=lines, environment={"TRUTHGATE_SCORING__TIMEOUT_SECONDS": "0.000001"}
    )
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    assert [verdict["answer_id"] for verdict in verdicts] == ["a-0", "a-1"]
    late = sum("scoring_timeout" in verdict["degraded"] for verdict in verdicts)
    assert late == 2
    assert done.stderr == (
        f"truthgate: {late} answers exceeded scoring.timeout_seconds: degraded scoring_timeout\n"
    )
    assert done.returncode == 1


def test_a_verifier_that_is_named_is_asked_in_the_scoring_processes(tmp_path):
    file, documents = tmp_path / "answers.jsonl", tmp_path / "documents.jsonl"
    line = {"question": "How long?", "answer": "The link yes works for a week.", "document_ids": ["d"]}
    file.write_text(json.dumps(line))
    page = {"document_id": "d", "language": "en", "title": "", "text": "The link works for 24 hours."}
    documents.write_text(json.dumps(page))
    environment = {"TRUTHGATE_SCORING__VERIFIER__FOLDER": str(TINY_VERIFIER)}
    done = truthgate_here("score", file, "--documents", documents, environment=environment)
    (verdict,) = map(json.loads, done.stdout.splitlines())
    (value,) = [each["value"] for each in verdict["features"] if each["name"] == "claims_verified"]
    assert value > 0.5
    assert (done.stderr, verdict["degraded"]) == ("", [])

    late = environment | {"TRUTHGATE_SCORING__VERIFIER__TIMEOUT_SECONDS": "1e-9"}
    done = truthgate_here("score", file, "--documents", documents, environment=late)
    (verdict,) = map(json.loads, done.stdout.splitlines())
    assert (verdict["decision"], verdict["degraded"]) == ("review", ["verifier_timeout"])
    assert done.stderr == (
        "truthgate: 1 answer had claims on which the verifier exceeded scoring.verifier.timeout_seconds: "
        "degraded verifier_timeout\n"
    )


@pytest.mark.parametrize("command", ["score", "evaluate"])
def test_a_temporary_folder_that_does_not_serve_is_one_line_and_wrong_usage(tmp_path, command):
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    file = tmp_path / "answers.jsonl"
    file.write_bytes(good(1))
    done = truthgate(command, file, environment={"TMPDIR": str(folder)})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "truthgate: TMPDIR: scoring processes cannot use this temporary directory: AF_UNIX path too long\n"
    )
