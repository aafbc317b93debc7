"""`make mutants` tells where a mutant is and what it changes, samples fairly, and finds its tests."""

import subprocess
from pathlib import Path

import pytest

from tests.support.mutants.__main__ import NotOurs, files_of
from tests.support.mutants.changes import GitFailed, changed_lines
from tests.support.mutants.importers import tests_of as unit_tests_of
from tests.support.mutants.making import Mutant, choose, mutants_of, touched

ROOT = Path(__file__).parents[3]


def mutant(file: str, line: int, number: int) -> Mutant:
    return Mutant(f"{file}:{line}:{number}", file, line, "a", "b")


MANY = [mutant("a/x.py", line, number) for line in range(1, 11) for number in range(5)]
FEW = [mutant("b/y.py", 1, number) for number in range(3)]


def test_each_room_has_its_share_and_each_line_one_before_any_has_two():
    chosen = choose([*MANY, *FEW], 13, seed=1)
    assert sorted(each.room for each in chosen) == ["a"] * 10 + ["b"] * 3
    assert len({each.line for each in chosen if each.room == "a"}) == 10


def test_a_seed_fixes_the_sample():
    assert choose(MANY, 7, seed=3) == choose(reversed(MANY), 7, seed=3)
    assert choose(MANY, 7, seed=3) != choose(MANY, 7, seed=4)
    assert len(choose(FEW, 200, seed=1)) == 3


def test_only_lines_that_were_touched_are_kept():
    assert {each.line for each in touched(MANY, {"a/x.py": {2, 3, 99}})} == {2, 3}
    assert touched(MANY, {"b/y.py": {2}}) == []


def test_a_mutant_tells_its_line_and_what_it_makes_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.mutmut]\nsource_paths = ['room']\n")
    (tmp_path / "room").mkdir()
    (tmp_path / "room/one.py").write_text(
        "class C:\n\n    def less(self, a: int) -> bool:\n        '''Doc.'''\n        return a < 3\n\n\n"
        "def more(\n    a: int,\n) -> int:\n    b = a\n    return b\n"
    )
    made = [(each.line, each.before, each.after) for each in mutants_of(["room/one.py"])]
    assert made == [
        (5, "return a < 3", "return a <= 3"),
        (5, "return a < 3", "return a < 4"),
        (11, "b = a", "b = None"),
    ]


def test_the_tests_of_a_module_are_those_that_import_it_or_what_uses_it_in_its_room():
    watermark = unit_tests_of(ROOT, ["streams.rates.watermark"])
    assert "tests/unit/rates/test_watermark.py" in watermark
    assert "tests/unit/rates/test_rates_restore.py" in watermark, "it counts, by what uses watermarks"
    assert not any(file.startswith("tests/unit/cli") for file in watermark), "it would reach everything"
    assert not any(file.startswith("tests/unit/scoring") for file in watermark)
    assert unit_tests_of(ROOT, ["streams.nobody"]) == []


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)


def test_changed_lines_are_those_since_another_commit_committed_or_not(tmp_path):
    git(tmp_path, "init", "--initial-branch=main")
    code = tmp_path / "room"
    code.mkdir()
    (code / "one.py").write_text("a\nb\nc\nd\n")
    (code / "gone.py").write_text("a\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--message=one")
    git(tmp_path, "tag", "v1")
    (code / "one.py").write_text("a\nB\nc\nd\ne\n")
    (code / "gone.py").unlink()
    (code / "text.md").write_text("text\n")
    git(tmp_path, "add", ".")
    assert changed_lines(tmp_path, ["room"]) == {"room/one.py": {2, 5}}, "on main since the tag"
    git(tmp_path, "checkout", "-b", "branch")
    git(tmp_path, "commit", "--message=two")
    assert changed_lines(tmp_path, ["room"]) == {"room/one.py": {2, 5}}, "on a branch since it left main"
    assert changed_lines(tmp_path, ["room"], since="HEAD") == {}
    assert changed_lines(tmp_path, ["elsewhere"]) == {}


def test_on_main_without_tags_the_last_commit_and_what_is_not_committed_count(tmp_path):
    git(tmp_path, "init", "--initial-branch=main")
    code = tmp_path / "room"
    code.mkdir()
    for text in ("a\nb\nc\n", "a\nB\nc\n"):
        with pytest.raises(GitFailed):
            changed_lines(tmp_path, ["room"])
        (code / "one.py").write_text(text)
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "--message=one")
    (code / "one.py").write_text("a\nB\nC\n")
    assert changed_lines(tmp_path, ["room"]) == {"room/one.py": {2, 3}}
    with pytest.raises(GitFailed, match="nowhere"):
        changed_lines(tmp_path, ["room"], since="nowhere")


@pytest.mark.parametrize("path", ["streams/nowhere.py", "streams/nowhere", "tests/unit"])
def test_a_path_with_no_code_of_ours_is_refused(path):
    with pytest.raises(NotOurs, match=path):
        files_of([path])
