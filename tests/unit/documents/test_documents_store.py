"""The local copy of the documents: it equals the topic, and no kill leaves it out of step."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas import KnowledgeDocument
from streams.documents.store import DATABASE_NAME, LAYOUT_VERSION, SETTING, DocumentStore, StoreFailed
from streams.documents.versions import DocumentChange
from streams.kafka.topic_identity import TopicIdentity
from streams.observability.failures import EXIT_UNREACHABLE
from streams.settings import InvalidSettings
from streams.storage.directory import check_writable
from streams.storage.store_file import not_usable, transaction

ORIGIN = TopicIdentity("cluster", "documents", "topic-id")
WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def document(document_id: str, text: str = "text") -> KnowledgeDocument:
    return KnowledgeDocument(document_id, "nl", "title", text, WHEN, "https://help.example/1")


def change(
    document_id: str, offset: int, text: str | None = "text", partition: int = 0, at: int = 0
) -> DocumentChange:
    new = None if text is None else document(document_id, text)
    return DocumentChange(document_id, new, partition, offset, at)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DocumentStore]:
    store = DocumentStore(tmp_path)
    store.reset(ORIGIN)
    yield store
    store.close()


def texts(store: DocumentStore, ids: str = "abc") -> dict[str, str]:
    found = {document_id: store.get(document_id) for document_id in ids}
    return {document_id: stored.document.text for document_id, stored in found.items() if stored}


storable = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
documents = st.builds(
    KnowledgeDocument,
    document_id=storable,
    language=storable,
    title=storable,
    text=storable,
    updated_at=st.datetimes(timezones=st.just(UTC)),
    url=st.none() | storable,
    auto_send=st.booleans(),
)


@settings(max_examples=40, deadline=None)
@given(new=documents)
def test_a_document_comes_back_as_it_went_in(new, tmp_path_factory):
    store = DocumentStore(tmp_path_factory.mktemp("store"))
    try:
        assert store.apply([DocumentChange(new.document_id, new, 3, 7, 0)], {3: 8}) == [new.document_id]
        stored = store.get(new.document_id)
        assert stored is not None
        assert stored.document == new
        with store.snapshot() as snapshot:
            (place,) = snapshot.versions().values()
        assert (place.partition, place.offset) == (3, 7)
    finally:
        store.close()


operations = st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.text("xyz", max_size=3)), max_size=30)


@settings(max_examples=60, deadline=None)
@given(operations=operations, cuts=st.lists(st.integers(0, 30), max_size=5), again=st.integers(0, 30))
def test_upserts_deletes_and_repeated_batches_leave_what_a_dictionary_would_hold(
    operations, cuts, again, tmp_path_factory
):
    model: dict[str, str] = {}
    for key, text in operations:
        if text is None:
            model.pop(key, None)
        else:
            model[key] = text
    changes = [change(key, offset, text) for offset, (key, text) in enumerate(operations)]
    bounds = sorted({0, len(changes), *(cut for cut in cuts if cut < len(changes))})
    directory = tmp_path_factory.mktemp("store")
    store = DocumentStore(directory)
    for start, end in pairwise(bounds):
        store.apply(changes[start:end], {0: end})
        repeated = min(again, end)
        assert store.apply(changes[repeated:end], {0: end}) == []
    store.close()
    reopened = DocumentStore(directory)
    try:
        assert texts(reopened) == model
        assert len(reopened) == len(model)
        assert reopened.next_offsets == ({0: len(changes)} if changes else {})
    finally:
        reopened.close()


def test_offsets_stay_where_they_were_when_the_documents_cannot_be_written(store):
    store.apply([change("a", 0)], {0: 1})
    unwritable = DocumentChange("b", document("b", "\ud800"), 0, 2, 0)
    with pytest.raises(UnicodeEncodeError):
        store.apply([change("a", 1, "new"), unwritable], {0: 3})
    assert texts(store) == {"a": "text"}
    assert store.next_offsets == {0: 1}
    store.apply([change("a", 1, "new")], {0: 2})
    assert texts(store) == {"a": "new"}


def test_an_older_record_of_another_partition_changes_nothing(store):
    store.apply([change("a", 0, "new", partition=1, at=200)], {1: 1})
    store.apply(
        [change("a", 9, "old", partition=0, at=100), change("a", 10, None, partition=0, at=150)], {0: 11}
    )
    assert texts(store) == {"a": "new"}
    store.apply([change("a", 11, None, partition=0, at=300)], {0: 12})
    assert texts(store) == {}


def test_an_unreadable_version_counts_until_a_readable_one_comes(store):
    store.apply([change("a", 0), DocumentChange("a", None, 0, 1, 0, unreadable=True)], {0: 2})
    assert (store.unreadable_count, texts(store)) == (1, {})
    store.apply([change("a", 2)], {0: 3})
    assert (store.unreadable_count, texts(store)) == (0, {"a": "text"})


def test_offsets_move_on_without_a_document(store):
    store.apply([], {0: 5, 1: 2})
    store.apply([], {0: 4, 1: 3})
    assert store.next_offsets == {0: 5, 1: 3}


def test_a_reset_forgets_everything_and_keeps_the_new_origin(store):
    store.apply([change("a", 0), DocumentChange("b", None, 0, 1, 0, unreadable=True)], {0: 2})
    other = TopicIdentity("cluster", "documents", "another-id")
    store.reset(other)
    assert (len(store), store.unreadable_count, store.next_offsets, store.origin) == (0, 0, {}, other)


def test_the_age_counts_from_the_last_confirmation(tmp_path):
    now = 1_000.0
    store = DocumentStore(tmp_path, clock=lambda: now)
    store.reset(ORIGIN)
    now = 1_500.0
    assert store.age == 500
    store.mark_complete(1_400)
    store.close()
    reopened = DocumentStore(tmp_path, clock=lambda: 1_390.0)
    assert reopened.age == -10
    reopened.close()


def test_a_second_store_in_the_same_directory_is_refused_by_the_name_of_the_setting(store, tmp_path):
    with pytest.raises(InvalidSettings, match=r"^documents\.store: .* in use by another worker") as refusal:
        DocumentStore(tmp_path)
    assert "\n" not in str(refusal.value)


def test_a_closed_store_gives_its_directory_free(tmp_path):
    store = DocumentStore(tmp_path)
    store.close()
    store.close()
    DocumentStore(tmp_path).close()


def test_a_directory_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidSettings, match=r"^documents\.store: cannot write to [^\n]+$"):
        DocumentStore(tmp_path / "file" / "store")


@pytest.fixture
def folder_of_anybody() -> Iterator[Path]:
    """Give a folder that every user can reach, and act as one who is not root until the test is over."""
    with TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)
        os.seteuid(os.getuid())


def test_a_store_that_a_worker_can_use_is_left_as_it_was(folder_of_anybody):
    DocumentStore(folder_of_anybody / "store").close()
    before = sorted(folder_of_anybody.rglob("*"))
    check_writable(folder_of_anybody / "store", "documents.store")
    check_writable(folder_of_anybody / "not" / "yet", "documents.store")
    assert sorted(folder_of_anybody.rglob("*")) == before


@pytest.mark.parametrize("foreign", ["documents.sqlite3", "faust"])
def test_what_belongs_to_another_user_in_the_store_is_named(folder_of_anybody, foreign):
    (folder_of_anybody / foreign).mkdir(mode=0o500)
    if os.getuid() == 0:
        os.seteuid(65534)
    with pytest.raises(InvalidSettings, match=f"^documents.store: cannot write to .*{foreign}: it belongs"):
        check_writable(folder_of_anybody, "documents.store")


@pytest.mark.parametrize("target", ["nowhere", "store"])
def test_a_store_that_is_a_link_to_nowhere_or_itself_cannot_be_written(tmp_path, target):
    (tmp_path / "store").symlink_to(tmp_path / target)
    with pytest.raises(InvalidSettings, match=r"^documents\.store: cannot write to [^\n]+$"):
        check_writable(tmp_path / "store", "documents.store")


def test_a_store_whose_file_fails_raises_one_typed_error(store):
    store.close()
    looks: list[Callable[[], object]] = [
        lambda: store.get("a"),
        lambda: store.version_at("a", WHEN),
        lambda: store.was_deleted("a", WHEN),
        lambda: store.origin,
        lambda: store.unreadable_count,
        lambda: store.has_unreadable_of_other_reader("reader"),
        lambda: len(store),
    ]
    for look in looks:
        with pytest.raises(StoreFailed, match=r"^documents\.store"):
            look()
    with pytest.raises(StoreFailed, match=r"^documents\.store"):
        store.apply([change("a", 0)], {0: 1})


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _scribble(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)


def _overwrite(path: Path) -> None:
    path.write_bytes(b"this is no database, but it is long enough to look like one" * 100)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _flip_a_letter(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"x" * 100, b"\xff" * 100, 1))


def _age_layout(path: Path, version: int = 0) -> None:
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA user_version = {version}")
    database.close()


def _roll_back(path: Path) -> None:
    """Leave the file as a newer release may have laid it out."""
    _age_layout(path, LAYOUT_VERSION + 1)


def _replace_by_foreign(path: Path) -> None:
    path.unlink()
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE documents (theirs)")
    database.commit()
    database.close()


@pytest.mark.parametrize(
    "damage",
    [_truncate, _scribble, _overwrite, _empty, _flip_a_letter, _age_layout, _roll_back, _replace_by_foreign],
)
def test_a_file_that_cannot_be_trusted_is_set_aside_and_a_new_one_begun(damage, tmp_path, capsys):
    store = DocumentStore(tmp_path)
    store.reset(ORIGIN)
    store.apply([change(f"d{n}", n, "x" * 5000) for n in range(50)], {0: 50})
    store.close()
    assert callable(damage)
    damage(tmp_path / DATABASE_NAME)
    fresh = DocumentStore(tmp_path)
    try:
        assert (len(fresh), fresh.origin, fresh.next_offsets) == (0, None, {})
        fresh.apply([change("a", 0)], {0: 1})
        assert texts(fresh) == {"a": "text"}
    finally:
        fresh.close()
    assert (tmp_path / "documents.set-aside.sqlite3").exists()
    assert capsys.readouterr().out.count("store_set_aside") == 1


def test_a_sound_file_that_cannot_be_read_at_the_moment_stays_where_it_is(tmp_path):
    store = DocumentStore(tmp_path)
    store.reset(ORIGIN)
    store.apply([change("a", 0)], {0: 1})
    store.close()
    obstacle = tmp_path / f"{DATABASE_NAME}-wal"
    obstacle.mkdir()
    with pytest.raises(
        InvalidSettings, match=r"^documents\.store: cannot open or create [^\n]+: SQLITE_\w+$"
    ):
        DocumentStore(tmp_path)
    obstacle.rmdir()
    store = DocumentStore(tmp_path)
    try:
        assert (texts(store), store.origin, store.next_offsets) == ({"a": "text"}, ORIGIN, {0: 1})
    finally:
        store.close()
    assert not list(tmp_path.glob("*.set-aside*"))


WRITER = """
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from tests.unit.documents.test_documents_store import ORIGIN, change
from streams.documents.store import DocumentStore
store = DocumentStore(Path(sys.argv[1]))
if store.origin is None:
    store.reset(ORIGIN)
offset = store.next_offsets.get(0, 0)
print("writing", flush=True)
while True:
    batch = [change(f"d{n % 7}", n, f"{n}") for n in range(offset, offset + 20)]
    store.apply(batch, {0: offset + 20})
    offset += 20
"""


@pytest.mark.parametrize("patience", [0.0, 0.03, 0.1])
def test_a_writer_that_is_killed_leaves_documents_and_offsets_in_step(patience, tmp_path):
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[3],
        )
        assert process.stdout
        assert process.stdout.readline() == b"writing\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=patience)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=10)
        process.stdout.close()
        _assert_in_step(tmp_path)


def _assert_in_step(directory: Path) -> None:
    store = DocumentStore(directory)
    try:
        reached = store.next_offsets.get(0, 0)
        assert not (directory / "documents.set-aside.sqlite3").exists()
        newest = {f"d{n % 7}": n for n in range(max(0, reached - 7), reached)}
        found = {key: store.get(key) for key in newest}
        assert {key: int(kept.document.text) for key, kept in found.items() if kept} == newest
        assert len(store) == len(newest)
    finally:
        store.close()


def test_a_document_keeps_its_time_to_the_microsecond(store):
    exact = WHEN + timedelta(microseconds=123_457)
    new = KnowledgeDocument("a", "en", "t", "x", exact)
    store.apply([DocumentChange("a", new, 0, 0, 0)], {0: 1})
    stored = store.get("a")
    assert stored is not None
    assert stored.document == new


def test_a_full_disk_is_reported_as_one(tmp_path):
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorname = "SQLITE_FULL"
    assert str(not_usable(tmp_path / DATABASE_NAME, full, SETTING)).endswith(f": no space left on {tmp_path}")
    assert str(StoreFailed(full)).endswith("the document store failed: no space left")
    assert StoreFailed(full).exit_code == EXIT_UNREACHABLE


def test_a_transaction_whose_commit_fails_is_undone_and_the_next_one_can_begin():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("CREATE TABLE one (id INTEGER PRIMARY KEY)")
    connection.execute(
        "CREATE TABLE two (id INTEGER REFERENCES one (id) DEFERRABLE INITIALLY DEFERRED, unique (id))"
    )
    with pytest.raises(sqlite3.IntegrityError), transaction(connection):
        connection.execute("INSERT INTO two VALUES (1)")  # refused by the commit alone
    with transaction(connection):
        connection.execute("INSERT INTO one VALUES (1)")
    assert connection.execute("SELECT count(*) FROM two").fetchone() == (0,)
    connection.close()


def test_the_share_of_documents_that_were_added_changed_or_deleted_since_a_time(store):
    assert store.share_changed(0) == 0.0
    store.apply([change(each, n, at=1_000) for n, each in enumerate("abcd")], {0: 4})
    assert (store.share_changed(999), store.share_changed(1_000)) == (1.0, 0.0)
    store.apply([change("a", 4, at=2_000)], {0: 5})  # published again, unchanged
    assert store.share_changed(1_000) == 0.0
    store.apply([change("a", 5, "other", at=3_000), change("a", 6, "third", at=3_001)], {0: 7})
    assert store.share_changed(1_000) == 0.25
    store.apply([change("b", 7, None, at=4_000), change("e", 8, at=4_000)], {0: 9})
    assert store.share_changed(1_000) == 0.75
    store.apply([change(each, 9 + n, None, at=5_000) for n, each in enumerate("acde")], {0: 13})
    assert store.share_changed(1_000) == 1.0
