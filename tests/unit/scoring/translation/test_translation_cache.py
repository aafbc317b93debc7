"""Translations of documents are kept on disk, in bounds, and a broken file never stops anything."""

import sqlite3
from pathlib import Path

import pytest

from scoring.translation.cache import TranslationCache, key_of
from scoring.translation.errors import TranslatorMisconfigured
from tests.support.clock import Clock


def keys(count: int, prefix: str = "") -> list[bytes]:
    return [key_of(f"{prefix}{number}") for number in range(count)]


class Kept:
    """A cache with the errors that it told."""

    def __init__(self, path: Path, megabytes: int = 1) -> None:
        self.clock = Clock()
        self.errors: list[str] = []
        self.cache = TranslationCache(path, megabytes, self.errors.append, self.clock)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "translations.sqlite3"


def test_what_was_kept_is_found_after_a_restart_and_by_another_process(path: Path) -> None:
    first, second = Kept(path), Kept(path)
    first.cache.keep({key: f"t{number}" for number, key in enumerate(keys(1200))})
    assert second.cache.find(keys(1201)) == {key: f"t{number}" for number, key in enumerate(keys(1200))}
    first.cache.close()
    second.cache.close()
    again = Kept(path)
    assert len(again.cache.find(keys(1200))) == 1200
    again.cache.close()
    assert not first.errors + second.errors + again.errors


def test_no_original_text_is_in_the_file(path: Path) -> None:
    kept = Kept(path)
    kept.cache.keep({key_of("provider", "nl", "Zwaluwstaart"): "swallowtail"})
    kept.cache.close()
    content = path.read_bytes()
    assert b"swallowtail" in content
    assert b"Zwaluwstaart" not in content


def test_a_full_cache_drops_what_was_not_used_for_longest(path: Path) -> None:
    kept = Kept(path)
    kept.cache.keep(dict.fromkeys(keys(100, "used"), "x" * 1000))
    for day in range(1, 15):
        kept.clock.now += 90_000
        assert len(kept.cache.find(keys(100, "used"))) == 100
        kept.cache.keep(dict.fromkeys(keys(100, f"day {day} "), "x" * 1000))
    assert kept.cache.find(keys(100, "day 1 ")) == {}
    assert len(kept.cache.find(keys(100, "day 14 "))) == 100
    kept.cache.close()
    assert path.stat().st_size < 1_500_000


def test_a_damaged_file_of_ours_is_begun_anew(path: Path) -> None:
    kept = Kept(path)
    kept.cache.keep(dict.fromkeys(keys(500), "x" * 500))
    kept.cache.close()
    content = bytearray(path.read_bytes())
    content[5000:200_000] = b"\xff" * 195_000
    path.write_bytes(content)
    again = Kept(path)
    again.cache.keep({keys(1)[0]: "new"})
    assert again.cache.find(keys(500)) == {keys(1)[0]: "new"}
    again.cache.close()


def test_a_file_of_an_older_layout_is_begun_anew(path: Path) -> None:
    kept = Kept(path)
    kept.cache.keep(dict.fromkeys(keys(3), "old"))
    kept.cache.close()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    again = Kept(path)
    assert again.cache.find(keys(3)) == {}
    again.cache.close()


@pytest.mark.parametrize("content", ["somebody's notes", None])
def test_a_file_of_somebody_else_is_refused_and_not_touched(path: Path, content: str | None) -> None:
    path.parent.mkdir()
    if content:
        path.write_text(content)
    else:
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE mine (x)")
        database.close()
    before = path.read_bytes()
    with pytest.raises(TranslatorMisconfigured, match="not a cache of translations"):
        Kept(path)
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TranslatorMisconfigured, match="cannot use"):
        Kept(tmp_path / "file" / "cache.sqlite3")


def test_a_cache_that_fails_while_in_use_finds_nothing_and_says_so(path: Path) -> None:
    kept = Kept(path)
    other = sqlite3.connect(path)
    other.execute("DROP TABLE translations")
    kept.cache.keep({keys(1)[0]: "x"})
    assert kept.cache.find(keys(1)) == {}
    assert kept.errors == ["SQLITE_ERROR", "SQLITE_ERROR"]
    other.close()
    kept.cache.close()


def test_a_closed_cache_is_silent(path: Path) -> None:
    kept = Kept(path)
    kept.cache.close()
    kept.cache.close()
    kept.cache.keep({keys(1)[0]: "x"})
    assert kept.cache.find(keys(1)) == {}
    assert kept.errors == []
