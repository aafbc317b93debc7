"""A file is locked by one at a time, until it is closed."""

from pathlib import Path

import pytest

from scoring.cache.shared_database import try_lock


def test_a_lock_is_taken_once_and_free_again_when_its_file_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("ab") as first, path.open("ab") as second:
        assert try_lock(first)
        assert try_lock(first.fileno())
        assert not try_lock(second)
        first.close()
        assert try_lock(second)


def test_what_cannot_be_locked_is_an_error(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("ab") as file:
        number = file.fileno()
    with pytest.raises(OSError, match="Bad file descriptor"):
        try_lock(number)
