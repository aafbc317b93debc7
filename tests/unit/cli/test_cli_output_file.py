"""Files that commands write are whole or not there, and what they cannot be written for is told in a line."""

import errno
import os
from pathlib import Path

import pytest

from streams.cli.command_files import atomic_write, check_writable, open_output
from streams.cli.command_output import CommandFailed, ExitCode


def test_a_file_takes_its_name_when_it_is_whole_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "found.txt"
    with atomic_write(path) as partial:
        partial.write_text("found")
        assert not path.exists()
    assert [each.name for each in tmp_path.iterdir()] == ["found.txt"]
    assert path.read_text() == "found"


def test_of_a_file_that_fails_half_way_nothing_is_left_and_the_one_before_stays(tmp_path):
    path = tmp_path / "found.txt"
    path.write_text("of an earlier run")
    with pytest.raises(UnicodeEncodeError), open_output(path) as file:
        print("half", "\udcff", file=file)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["of an earlier run"]


def test_a_file_system_that_is_read_only_by_now_is_told_in_a_line(tmp_path, monkeypatch):
    """What an earlier run left beside the file cannot be taken away there either."""
    path = tmp_path / "found.txt"
    path.with_name("found.txt.part").write_text("of a run that was killed")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "unlink", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(CommandFailed) as failed, open_output(path):
        pass
    told = f"{path} cannot be written: Read-only file system"
    assert (str(failed.value), failed.value.code) == (told, ExitCode.WRONG_USAGE)


def test_a_circle_of_links_is_no_defect(tmp_path):
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    with open_output(circle) as file:
        file.write("found")
    assert circle.read_text() == "found"


def test_what_cannot_be_written_is_found_before_anything_is_made_and_nothing_is_left(tmp_path):
    path = tmp_path / "found.txt"
    path.write_text("of an earlier run")
    check_writable(path)
    check_writable(Path("/dev/null"))
    assert [each.read_text() for each in tmp_path.iterdir()] == ["of an earlier run"]
    with pytest.raises(CommandFailed, match="Not a directory"):
        check_writable(path / "below")


def test_a_link_stays_one_and_a_device_is_written_as_it_is(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "found.txt")
    with atomic_write(tmp_path / "link") as partial:
        partial.write_text("found")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "found.txt").read_text() == "found"
    with atomic_write(Path("/dev/null")) as partial:
        assert partial == Path("/dev/null")
