"""The command builds the company's words from documents, and says what it left out and why."""

import json
from pathlib import Path

import pytest

from scoring.company_terms import load_terms
from streams.cli.entry import run


def line(document_id: str, text: str = "De loonstrook van Kantora.", language: str = "nl") -> str:
    return json.dumps({"document_id": document_id, "language": language, "title": "", "text": text})


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "terms.json"


def jsonl(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "help.jsonl"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def build(documents: Path, output: Path, *options: str) -> int:
    return run(["company-terms", "build", "--documents", str(documents), "--output", str(output), *options])


def test_the_order_of_the_documents_does_not_change_the_file(tmp_path, output):
    lines = [line(f"d{n}", f"De loonstrook {'verlof ' * n}") for n in range(20)]
    assert build(jsonl(tmp_path, *lines), output) == 0
    first = output.read_bytes()
    assert build(jsonl(tmp_path, *reversed(lines)), output) == 0
    assert output.read_bytes() == first


def test_a_folder_of_markdown_is_read_too(tmp_path, output):
    folder = tmp_path / "help"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.md").write_text("# De loonstrook", "utf-8")
    (folder / "empty.md").write_text("", "utf-8")
    assert build(folder, output, "--language", "nl", "--least-documents", "3") == 1
    assert load_terms(output).for_language("nl") == {"loonstrook"}
