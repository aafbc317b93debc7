"""Translations of documents are kept on disk, and a broken file never stops anything."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from scoring.translation.cached import TranslationCache
from scoring.translation.errors import TranslatorMisconfigured

SENTENCES = {f"Zin {number}.": f"Sentence {number}." for number in range(1200)}

Open = Callable[..., TranslationCache]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "translations.sqlite3"


@pytest.fixture
def errors() -> list[str]:
    return []


@pytest.fixture
def opened(path: Path, errors: list[str]) -> Open:
    def opened(depends_on: str = "provider", at: Path = path) -> TranslationCache:
        return TranslationCache(at, 1, depends_on, errors.append)

    return opened


def test_what_was_kept_is_found_after_a_restart_and_by_another_process(
    opened: Open, errors: list[str]
) -> None:
    first, second = opened(), opened()
    first.put(SENTENCES, "nl")
    assert second.find([*SENTENCES, "Een andere."], "nl") == SENTENCES
    first.close()
    second.close()
    again = opened()
    assert again.find(SENTENCES, "nl") == SENTENCES
    again.close()
    assert not errors


def test_a_translation_is_kept_by_sentence_language_and_translator(opened: Open) -> None:
    kept, of_another = opened(), opened("another provider")
    kept.put({"Ja.": "Yes."}, "nl")
    assert kept.find(["Ja."], "nl") == {"Ja.": "Yes."}
    assert kept.find(["Ja."], "de") == {}
    assert of_another.find(["Ja."], "nl") == {}
    kept.close()
    of_another.close()


def test_no_original_text_is_in_the_file(opened: Open, path: Path) -> None:
    kept = opened()
    kept.put({"Zwaluwstaart": "swallowtail"}, "nl")
    kept.close()
    content = path.read_bytes()
    assert b"swallowtail" in content
    assert b"Zwaluwstaart" not in content


def test_a_file_of_another_layout_is_begun_anew(opened: Open, path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as database:
        database.executescript(
            "PRAGMA application_id = 0x74677472; PRAGMA user_version = 2; PRAGMA journal_mode = WAL;"
            "CREATE TABLE translations (key BLOB NOT NULL PRIMARY KEY, translation TEXT, used_at INTEGER);"
        )
    database.close()
    kept = opened()
    kept.put({"Ja.": "Yes."}, "nl")
    assert kept.find(["Ja."], "nl") == {"Ja.": "Yes."}
    kept.close()


@pytest.mark.parametrize("content", ["somebody's notes", None])
def test_a_file_of_somebody_else_is_refused_and_not_touched(
    opened: Open, path: Path, content: str | None
) -> None:
    path.parent.mkdir()
    if content:
        path.write_text(content)
    else:
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE mine (x)")
        database.close()
    before = path.read_bytes()
    with pytest.raises(TranslatorMisconfigured, match="not a file of translations"):
        opened()
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_told(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TranslatorMisconfigured, match="EEXIST"):
        opened(at=tmp_path / "file" / "cache.sqlite3")


def test_a_file_that_another_process_is_writing_as_it_is_opened_is_no_mistake(
    opened: Open, path: Path
) -> None:
    opened().close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    kept = opened()
    other.close()
    kept.close()


def test_a_file_that_fails_while_in_use_finds_nothing_and_says_so(
    opened: Open, path: Path, errors: list[str]
) -> None:
    kept = opened()
    other = sqlite3.connect(path)
    other.execute("DROP TABLE results")
    kept.put({"Ja.": "Yes."}, "nl")
    assert kept.find(["Ja."], "nl") == {}
    assert errors == ["SQLITE_ERROR"]  # once, since it is left alone for a while
    other.close()
    kept.close()


def test_a_closed_file_is_silent(opened: Open, errors: list[str]) -> None:
    kept = opened()
    kept.close()
    kept.close()
    kept.put({"Ja.": "Yes."}, "nl")
    assert kept.find(["Ja."], "nl") == {}
    assert errors == []
