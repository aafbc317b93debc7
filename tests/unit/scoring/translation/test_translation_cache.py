"""Translations of documents are cached on disk, and a broken file never stops translation."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
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
def opened(path: Path, errors: list[str]) -> Iterator[Open]:
    with ExitStack() as stack:

        def opened(identity: str = "provider", at: Path = path) -> TranslationCache:
            return stack.enter_context(closing(TranslationCache(at, 1, identity, errors.append)))

        yield opened


def test_translations_are_found_after_a_restart_and_by_another_process(opened, errors):
    first, second = opened(), opened()
    first.put(SENTENCES, "nl")
    assert second.find([*SENTENCES, "Een andere."], "nl") == SENTENCES
    first.close()
    second.close()
    assert opened().find(SENTENCES, "nl") == SENTENCES
    assert not errors


def test_a_translation_is_stored_by_sentence_language_and_translator(opened):
    cache = opened()
    cache.put({"Ja.": "Yes."}, "nl")
    assert cache.find(["Ja."], "nl") == {"Ja.": "Yes."}
    assert cache.find(["Ja."], "de") == opened("another provider").find(["Ja."], "nl") == {}


def test_no_original_text_is_in_the_file(opened, path):
    cache = opened()
    cache.put({"Zwaluwstaart": "swallowtail"}, "nl")
    cache.close()
    content = path.read_bytes()
    assert (b"swallowtail" in content, b"Zwaluwstaart" in content) == (True, False)


def test_a_file_with_another_schema_is_rebuilt(opened, path):
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "PRAGMA application_id = 0x74677472; PRAGMA user_version = 2; PRAGMA journal_mode = WAL;"
            "CREATE TABLE translations (key BLOB NOT NULL PRIMARY KEY, translation TEXT, used_at INTEGER);"
        )
    cache = opened()
    cache.put({"Ja.": "Yes."}, "nl")
    assert cache.find(["Ja."], "nl") == {"Ja.": "Yes."}


@pytest.mark.parametrize("is_database", [False, True])
def test_a_foreign_file_is_refused_and_not_touched(opened, path, is_database):
    path.parent.mkdir()
    if is_database:
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE mine (x)")
    else:
        path.write_text("somebody's notes")
    before = path.read_bytes()
    with pytest.raises(TranslatorMisconfigured, match="not a file of translations"):
        opened()
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_created_is_reported(opened, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TranslatorMisconfigured, match="EEXIST"):
        opened(at=tmp_path / "file" / "cache.sqlite3")


def test_a_file_that_another_process_is_writing_can_be_opened(opened, path):
    opened().close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        opened()


def test_a_failing_file_finds_nothing_and_is_reported_once(opened, path, errors):
    cache = opened()
    with closing(sqlite3.connect(path)) as other:
        other.execute("DROP TABLE results")
        cache.put({"Ja.": "Yes."}, "nl")
        assert cache.find(["Ja."], "nl") == {}
    assert errors == ["SQLITE_ERROR"]


def test_a_closed_file_reports_nothing(opened, errors):
    cache = opened()
    cache.close()
    cache.put({"Ja.": "Yes."}, "nl")
    assert cache.find(["Ja."], "nl") == {}
    assert errors == []
