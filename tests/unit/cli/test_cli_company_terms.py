"""The command builds the company's words from documents, and says what it left out and why."""

from __future__ import annotations

import json
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from scoring.company_terms import load
from streams.cli.entry import run
from tests.support.commands import truthgate

SAMPLE = files("streams") / "sample"


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


def test_the_sample_knowledge_base_gives_the_product_s_words(output: Path) -> None:
    with as_file(SAMPLE / "documents.nl.jsonl") as documents:
        done = truthgate("company-terms", "build", "--documents", documents, "--output", output)
    assert done.returncode == 0
    assert done.stdout == ""
    assert "\ntruthgate: nl: " in done.stderr
    assert done.stderr.endswith(" words from 39 documents\n")
    found = load(output).for_language("nl")
    assert found
    assert {"kantora", "loonperiode", "foutcode"} <= found
    assert {"het", "van", "naar", "een"}.isdisjoint(found)


def test_the_order_of_the_documents_does_not_change_the_file(tmp_path: Path, output: Path) -> None:
    lines = [line(f"d{n}", f"De loonstrook {'verlof ' * n}") for n in range(20)]
    assert build(jsonl(tmp_path, *lines), output) == 0
    first = output.read_bytes()
    assert build(jsonl(tmp_path, *reversed(lines)), output) == 0
    assert output.read_bytes() == first


def test_a_bad_line_is_named_and_the_rest_is_used(
    tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = jsonl(tmp_path, line("a"), "{", line("b"))
    assert build(documents, output, "--least-documents", "2") == 1
    assert load(output).for_language("nl") == {"loonstrook", "kantora"}
    assert f"{documents}, line 2: " in capsys.readouterr().err


def test_a_folder_of_markdown_is_read_too(tmp_path: Path, output: Path) -> None:
    folder = tmp_path / "help"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.md").write_text("# De loonstrook", "utf-8")
    (folder / "empty.md").write_text("", "utf-8")
    assert build(folder, output, "--language", "nl", "--least-documents", "3") == 1
    assert load(output).for_language("nl") == {"loonstrook"}


def test_the_same_id_in_two_files_of_two_languages_is_two_documents(output: Path) -> None:
    with as_file(SAMPLE / "documents.nl.jsonl") as dutch, as_file(SAMPLE / "documents.en.jsonl") as english:
        assert build(dutch, output, "--documents", str(english)) == 0
    assert {code: found.documents for code, found in load(output).languages.items()} == {"en": 39, "nl": 39}


def test_languages_that_are_left_out_are_named_with_the_reason(
    tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        line("a"),
        line("b"),
        line("c", language="en"),
        line("d", "het de", "de"),
        line("e", "het", "de"),
    ]
    documents = jsonl(tmp_path, *lines, line("f", language="sw"), line("g", language="sw"))
    assert build(documents, output, "--least-documents", "2") == 0
    assert capsys.readouterr().err.splitlines() == [
        "truthgate: de: 1 word from 2 documents",
        "truthgate: en: left out, 1 document of at least 2",
        "truthgate: nl: 2 words from 2 documents",
        "truthgate: sw: left out, there is no word list of the language at large to compare with",
    ]


def test_nothing_is_written_where_no_words_are_found(
    tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build(jsonl(tmp_path, line("a")), output) == 1
    assert "no words found" in capsys.readouterr().err
    assert not output.exists()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--language", "nl"], "--language is for a folder"),
        (["--least-documents", "0"], "--least-documents"),
        (["--output", "{documents}"], "would overwrite the documents"),
        (["--output", "{documents}/x"], "cannot be written: Not a directory"),
        (["--documents", "/nowhere"], "does not exist"),
    ],
)
def test_wrong_usage_is_one_line(
    tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str], options: list[str], reason: str
) -> None:
    documents = jsonl(tmp_path, *(line(f"d{n}") for n in range(20)))
    assert build(documents, output, *(option.format(documents=documents) for option in options)) == 2
    assert reason in capsys.readouterr().err.splitlines()[-1]
    assert documents.stat().st_size > 0


@pytest.fixture
def built(tmp_path: Path, output: Path) -> Path:
    lines = [line("a"), line("b", "Kantora"), line("c", "payslip", "en"), line("d", "payslip", "en")]
    assert build(jsonl(tmp_path, *lines), output, "--least-documents", "2") == 0
    return output


def test_words_are_shown_the_most_frequent_first(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["company-terms", "show", str(built)]) == 0
    shown = capsys.readouterr()
    assert shown.out == "en\tpayslip\t2\nnl\tkantora\t2\n"
    assert shown.err.splitlines() == [
        f"truthgate: version {load(built).version}",
        "truthgate: en: 1 word from 2 documents",
        "truthgate: nl: 1 word from 2 documents",
    ]


def test_words_are_shown_as_json_and_of_one_language(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["company-terms", "show", str(built), "--json", "--language", "en"]) == 0
    assert json.loads(capsys.readouterr().out) == {"language": "en", "word": "payslip", "count": 2}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [(["--language", "fr"], "has no words of language fr"), ([], "languages: is not a table")],
)
def test_what_cannot_be_shown_is_bad_input(
    built: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], reason: str
) -> None:
    if not arguments:
        built.write_text('{"format": 1, "version": "", "languages": []}', "utf-8")
    assert run(["company-terms", "show", str(built), *arguments]) == 1
    assert reason in capsys.readouterr().err


def test_the_command_still_has_its_former_name(
    tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = jsonl(tmp_path, *(line(f"d{n}") for n in range(20)))
    assert run(["lexicon", "build", "--documents", str(documents), "--output", str(output)]) == 0
    assert run(["lexicon", "show", str(output)]) == 0
    assert "loonstrook" in capsys.readouterr().out
    assert run(["--help"]) == 0
    assert "lexicon" not in capsys.readouterr().out
