"""A folder of Markdown becomes help documents."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas import KnowledgeDocument
from streams.documents.markdown_folder import BadFile, read_markdown_folder


def write(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def only(folder: Path) -> KnowledgeDocument | BadFile:
    (found,) = read_markdown_folder(folder, "nl")
    return found


def test_a_file_becomes_a_document_named_after_its_path(tmp_path: Path) -> None:
    path = write(tmp_path, "hr/Add employee.v2.md", "# Adding\n\nText.")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    changed = datetime.fromtimestamp(1_700_000_000, UTC)
    assert only(tmp_path) == KnowledgeDocument(
        "hr/Add employee.v2", "nl", "Adding", "# Adding\n\nText.", changed
    )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("intro\n\n## Second `level` ##\n", "Second `level`"),
        ("Underlined\n===\n", "Underlined"),
        ("```\n# a comment in code\n```\n\n# The title\n", "The title"),
        ("    # indented code\n\ntext\n", "page"),
        ("#no heading\n", "page"),
        ("#\n\n# Later\n", "Later"),
        ("\ufeff# After a byte order mark\n", "After a byte order mark"),
    ],
)
def test_the_title_is_the_first_heading_or_the_name_of_the_file(
    text: str, title: str, tmp_path: Path
) -> None:
    write(tmp_path, "page.md", text)
    found = only(tmp_path)
    assert isinstance(found, KnowledgeDocument)
    assert found.title == title


def test_files_come_in_the_order_of_their_paths_and_hidden_or_other_files_not_at_all(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a/b.md", ".hidden.md", ".git/x.md", "notes.txt"):
        write(tmp_path, name, "text")
    (tmp_path / "folder.md").mkdir()
    found = [entry for entry in read_markdown_folder(tmp_path, "en") if isinstance(entry, KnowledgeDocument)]
    assert [entry.document_id for entry in found] == ["a/b", "a/z", "b"]


def test_a_bad_file_is_named_with_its_reason_and_the_rest_is_read(tmp_path: Path) -> None:
    bad = write(tmp_path, "a.md", b"good \xff bad")
    blank = write(tmp_path, "b.md", " \n")
    write(tmp_path, "c.md", "# Good")
    found = list(read_markdown_folder(tmp_path, "en"))
    assert found[:2] == [BadFile(bad, "not UTF-8: byte 5 cannot be read"), BadFile(blank, "has no text")]
    assert isinstance(found[2], KnowledgeDocument)


def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        write(tmp_path, name, "text")
    found = read_markdown_folder(tmp_path, "en")
    assert isinstance(next(found), KnowledgeDocument)
    write(tmp_path, "b.md", "")
    assert isinstance(next(found), BadFile)


def test_a_file_whose_name_is_no_utf_8_is_named_and_left_out(tmp_path: Path) -> None:
    """No record could carry an id that is made of it."""
    write(tmp_path, "\udcff/page.md", "# One\n\nText.")
    write(tmp_path, "page\udcff.md", "# Two\n\nText.")
    found = list(read_markdown_folder(tmp_path, "nl"))
    assert [getattr(each, "reason", None) for each in found] == ["its name is not UTF-8"] * 2
