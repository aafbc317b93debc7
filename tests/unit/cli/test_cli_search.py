"""``truthgate search`` shows what is found, and why; ``score`` and ``evaluate`` judge against it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streams.cli.command_output import CommandFailed
from streams.cli.search_command import Question, find_passages
from streams.search.types import RetrievalResult, RetrievalUnavailable
from tests.support.commands import truthgate_here

HOSTILE = "Press **Save** \x1b[2J and \u202eevas\u202c then \x07 wait."
DOCUMENTS = [
    (
        "invoice",
        "nl",
        "Factuur versturen",
        "Open de factuur en klik op **Versturen**. De factuur gaat per post.",
    ),
    ("invoice", "en", "Sending invoices", "Open the invoice and click **Send**. The invoice goes by mail."),
    (
        "leave",
        "nl",
        "Verlof aanvragen",
        "Klik op **Verlof** en kies de dagen. Je leidinggevende keurt het goed.",
    ),
    ("odd", "en", "Saving\x1b[2J", HOSTILE),
]
QUESTION = "Hoe verstuur ik een factuur?"

Truthgate = Callable[..., subprocess.CompletedProcess[str]]


def written(path: Path, *lines: dict[str, Any] | str) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder where all tests here keep the one index that they share."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = ("document_id", "language", "title", "text")
    rows = [dict(zip(names, row, strict=True)) for row in DOCUMENTS]
    return written(tmp_path_factory.mktemp("documents") / "documents.jsonl", *rows)


@pytest.fixture
def command(cache: Path) -> Truthgate:
    return lambda *arguments, **more: truthgate_here(
        *arguments, environment={"XDG_CACHE_HOME": str(cache), **more}
    )


def test_what_documents_hold_cannot_rewrite_a_terminal_however_narrow(command, documents):
    options = ("--documents", documents, "--language", "en")
    shown = command("search", "How do I save?", *options, COLUMNS="30").stdout
    assert "Saving" in shown
    assert not {"\x1b", "\x07", "\u202e", "\u202c"} & set(shown)
    assert max(map(len, shown.splitlines())) <= 30


def test_many_questions_keep_their_ids_and_order_and_bad_lines_are_named(command, documents, tmp_path):
    file = written(
        tmp_path / "questions.jsonl",
        {"id": 7, "question": QUESTION, "rating": 3},
        "broken",
        {"answer_id": "a-1", "question": "How do I send an invoice?", "language": "en", "answer": "So."},
        {"id": "x"},
        {"question": ""},
        '{"question": "q", "id": NaN}',
        '{"question": "q", "id": "\\ud800"}',
        {"question": "Klingonska?", "language": "tlh"},
        {"question": "verlof " * 15_000, "question_id": {"n": 1}},
    )
    done = command("search", "--questions", file, "--documents", documents)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    complaints = zip(done.stderr.splitlines(), (2, 4, 5, 6, 7), strict=True)
    assert [line for line, number in complaints if f"{file}, line {number}: " not in line] == []
    ids = [{name: value for name, value in each.items() if name.endswith("id")} for each in found]
    assert ids == [{"id": 7}, {"answer_id": "a-1"}, {}, {"question_id": {"n": 1}}]
    assert found[1]["passages"][0]["language"] == "en"
    assert found[3]["passages"][0]["document_id"] == "leave"


async def test_documents_that_cannot_be_searched_end_the_command_as_one_that_lacks_a_service():
    class Failing:
        async def retrieve(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
            raise RetrievalUnavailable("index_failed")

    with pytest.raises(CommandFailed, match="cannot be searched: index_failed") as caught:
        await find_passages(Failing(), None, Question(QUESTION))
    assert caught.value.code == 3


def test_answers_without_context_are_scored_against_what_is_retrieved(command, documents, tmp_path):
    asked = {"question": QUESTION, "answer": "Kies **Post** en klik op **Versturen**.", "language": "nl"}
    inline = {"document_id": "i", "text": "Klik op **Versturen**."}
    file = written(
        tmp_path / "a.jsonl", asked, {**asked, "document_ids": ["leave"]}, {**asked, "context": [inline]}
    )
    done = command("score", file, "--documents", documents)
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["context_source"] for each in verdicts] == ["retrieved", "by_id", "inline"]
    first = verdicts[0]["context"][0]
    assert (first["document_id"], first["start"], first["end"]) == ("invoice", 0, 67)
    assert verdicts[0]["context_ids"][0] == "invoice"
    assert first["score"] > 0


def test_no_index_is_built_for_answers_that_all_bring_their_context(command, documents, tmp_path):
    file = written(tmp_path / "a.jsonl", {"question": "q?", "answer": "a", "document_ids": ["gone"]})
    done = command("score", file, "--documents", documents, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert json.loads(done.stdout)["degraded"][0] == "context_missing"
    assert not (tmp_path / "cache").exists()


RATED = {
    "question": QUESTION,
    "answer": "Kies **Post** en klik op **Versturen**.",
    "language": "nl",
    "message_type": "instruction",
    "context": [{"document_id": "i", "text": "Open de factuur en klik op **Verzenden**."}],
    "rating": 5,
}


def test_an_evaluation_compares_given_with_retrieved_contexts(command, documents, tmp_path):
    rows = [{**RATED, "answer_id": f"a-{number}", "rating": 1 + number % 5} for number in range(4)]
    file = written(tmp_path / "rated.jsonl", *rows)
    options = ("--documents", documents, "--context", "both")
    found = json.loads(command("evaluate", file, *options, "--json").stdout)
    assert [each["name"] for each in found["runs"]] == ["given", "retrieved"]
    table = found["decisions"][0]
    assert (table["answers"], table["counted_out"], table["same"]["count"]) == (4, 0, 0)
    blocked = next(row for row in table["rows"] if row["decision"] == "blocked")
    assert (blocked["answers"], blocked["blocked"]) == (4, 0)
    shown = command("evaluate", file, *options).stdout
    assert "Decisions: context given (rows), context retrieved" in " ".join(shown.split())
    assert "Same decision on 0 of 4" in shown
    assert "translating" not in shown
    alone = json.loads(command("evaluate", file, *options[:2], "--context", "retrieved", "--json").stdout)
    assert [each["name"] for each in alone["runs"]] == ["retrieved"]
    assert alone["decisions"] == []


def test_a_search_loads_neither_the_parser_nor_the_stream_nor_what_identifies_a_language_that_is_given(
    cache, documents
):
    heavy = ("spacy", "faust", "scipy", "pandas")
    code = (
        "import sys; from streams.cli.entry import run; from scoring.text import language_detection; "
        f"run(['search', 'Hoe?', '--documents', {str(documents)!r}, '--language', 'nl', '--json']); "
        f"print(*[name for name in {heavy!r} if name in sys.modules], "
        "language_detection.load_model.cache_info().currsize, "
        "file=sys.stderr)"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert json.loads(done.stdout)["passages"]
    assert done.stderr.strip() == "0"
