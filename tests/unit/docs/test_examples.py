"""The examples of consumers are short, pinned, and the sender's store forgets only what it may."""

import json
import re
import runpy
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.own_patterns import ROOT
from tests.support.ports import NOBODY

EXAMPLES = ROOT / "docs" / "examples" / "consumers"
PROGRAMS = sorted(each for each in EXAMPLES.glob("*/*") if each.suffix in (".py", ".mjs", ".java"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_each_is_short_enough_to_be_read(program: Path) -> None:
    lines = program.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 100
    assert max(map(len, lines)) <= 130


def test_none_needs_a_package_of_ours() -> None:
    assert len(PROGRAMS) == 13
    for program in PROGRAMS:
        assert not re.search(r"(?m)^(import|from) (streams|schemas|scoring)\b", program.read_text("utf-8"))


def test_what_they_need_is_pinned_by_its_hash() -> None:
    for folder in ("python", "sender"):
        entries = re.split(r"\n(?=\S)", (EXAMPLES / folder / "requirements.txt").read_text("utf-8").strip())
        assert all(re.match(r"\S+==\S+ .*--hash=sha256:", entry, re.DOTALL) for entry in entries)
    locked = json.loads((EXAMPLES / "node" / "package-lock.json").read_text("utf-8"))["packages"]
    assert all(entry["integrity"] for name, entry in locked.items() if name)
    jars = (EXAMPLES / "java" / "jars.sha256").read_text("utf-8").splitlines()
    assert all(re.fullmatch(r"[0-9a-f]{64}  \S+\.jar", line) for line in jars)


class Store:
    """The sender's store, as the program itself has it."""

    def __init__(self, file: Path) -> None:
        module: dict[str, Any] = runpy.run_path(str(EXAMPLES / "sender" / "sent.py"))
        self.sent = module["Sent"](str(file))

    def claim(self, verdict_id: str, until: float) -> str:
        return str(self.sent.claim(verdict_id, until).name)

    @property
    def size(self) -> int:
        return int(self.sent.db.execute("SELECT count(*) FROM sent").fetchone()[0])


@pytest.mark.parametrize(
    ("program", "variables", "told"),
    [
        ("post.py", {"SEND_TO": ""}, "SEND_TO should be the address"),
        ("sender.py", {"UNSURE": "Skip"}, "not Skip"),
    ],
)
def test_a_sender_that_is_set_wrongly_says_so_before_it_claims_anything(
    program: str, variables: dict[str, str], told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = tmp_path / "sent.sqlite3"
    for name, value in {
        "SEND_TO": "http://localhost/",
        "STORE": str(store),
        "KAFKA": NOBODY,
        **variables,
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(EXAMPLES / "sender")
    with pytest.raises(SystemExit, match=told):
        runpy.run_path(str(EXAMPLES / "sender" / program))
    assert not store.exists()


def test_a_verdict_is_new_once_then_unsure_until_it_is_done(tmp_path: Path) -> None:
    store, later = Store(tmp_path / "sent"), time.time() + 3600
    assert [store.claim("v-1", later), store.claim("v-1", later)] == ["NEW", "UNSURE"]
    store.sent.done("v-1")
    assert store.claim("v-1", later) == "DONE"
    assert store.claim("v-2", later) == "NEW"
    store.sent.give_back("v-2")
    assert store.claim("v-2", later) == "NEW", "nobody can have taken it"
    store.sent.db.close()


def test_another_sender_knows_what_the_one_before_did(tmp_path: Path) -> None:
    one, later = Store(tmp_path / "sent"), time.time() + 3600
    one.claim("done", later)
    one.sent.done("done")
    one.claim("claimed", later)
    two = Store(tmp_path / "sent")  # the first is not closed: it was killed
    assert [two.claim(each, later) for each in ("done", "claimed")] == ["DONE", "UNSURE"]
    one.sent.db.close()
    two.sent.db.close()


def test_only_what_is_too_old_to_be_sent_is_forgotten(tmp_path: Path) -> None:
    store, now = Store(tmp_path / "sent"), time.time()
    for number in range(100):
        store.claim(f"old-{number}", now - 1)
        store.claim(f"kept-{number}", now + 3600)
    store.claim("last", now + 3600)
    assert store.size == 101
    assert store.claim("kept-0", now + 3600) == "UNSURE"
    store.sent.db.close()
