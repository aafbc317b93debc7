"""Where tests get programs from that Python's index does not have, and what they say when they cannot."""

from pathlib import Path

import pytest

from tests.support import debian
from tests.support.apt import NotFetched
from tests.support.debian import debian_tool


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give a PATH with nothing on it, and an empty cache."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(debian, "user_cache_path", lambda _: tmp_path / "cache")
    monkeypatch.delenv("CI", raising=False)
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def test_what_is_on_the_path_is_used(bare):
    program = bare / "promtool"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert debian_tool("promtool") == program


def test_without_apt_a_test_is_skipped_and_says_why(bare):
    with pytest.raises(pytest.skip.Exception, match="promtool is not on PATH, and there is no apt"):
        debian_tool("promtool")


def test_without_apt_a_test_fails_on_ci(bare, monkeypatch):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no apt"):
        debian_tool("promtool")


def test_what_cannot_be_fetched_fails_and_leaves_nothing(bare, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise NotFetched("apt-get failed: no network")

    monkeypatch.setattr(debian, "has_apt", lambda: True)
    monkeypatch.setattr(debian, "unpack", refuse)
    with pytest.raises(pytest.fail.Exception, match="no network"):
        debian_tool("promtool")
    assert not [
        path for path in (bare.parent / "cache").rglob("*") if path.is_file() and path.suffix != ".lock"
    ]
