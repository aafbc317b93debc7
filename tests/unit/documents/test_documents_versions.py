"""The versions that the store keeps: which one was in force when, whatever order records come in."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas import KnowledgeDocument
from streams.documents.store import DocumentStore
from streams.documents.versions import DocumentChange, version_name
from streams.kafka.topic_identity import TopicIdentity

ORIGIN = TopicIdentity("cluster", "documents", "topic-id")
WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400
KEYS = "ab"
READ = 1_000  # the store that is emptied reads in its first second, in milliseconds
MOMENTS = (*range(-1, 11), READ - 1, READ)


def at(milliseconds: int) -> datetime:
    return EPOCH + timedelta(milliseconds=milliseconds)


def document(document_id: str, text: str) -> KnowledgeDocument:
    return KnowledgeDocument(document_id, "nl", "title", text, WHEN)


def change(key: str, text: str | None, partition: int, offset: int, timestamp: int) -> DocumentChange:
    return DocumentChange(key, None if text is None else document(key, text), partition, offset, timestamp)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DocumentStore]:
    """Give a store on its hundredth day."""
    with closing(DocumentStore(tmp_path, lambda: 100 * DAY)) as store:
        store.reset(ORIGIN)
        yield store


@pytest.fixture(scope="module")
def emptied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocumentStore]:
    """Give a store in its first second that each example empties: making one takes longer than filling it."""
    with closing(DocumentStore(tmp_path_factory.mktemp("store"), lambda: 1.0)) as store:
        yield store


def text_at(store: DocumentStore, key: str, milliseconds: int) -> str | None:
    found = store.version_at(key, at(milliseconds))
    return found.document.text if found else None


def current(store: DocumentStore, key: str) -> str | None:
    found = store.get(key)
    return found.document.text if found else None


class TimelineModel:
    """A plain list of the records, asked what the store must say."""

    def __init__(self, records: Iterable[DocumentChange]) -> None:
        self._times: dict[tuple[str, int], int] = {}
        self._records = [self._timed(record) for record in records]

    def _timed(self, record: DocumentChange) -> tuple[tuple[int, int, int], DocumentChange]:
        # No record is earlier than the one before it in its partition, or later than it is read.
        place, timestamp = (record.document_id, record.partition), min(record.timestamp, READ)
        since = self._times[place] = max(self._times.get(place, timestamp), timestamp)
        return (since, record.partition, record.offset), record

    def _of(self, key: str) -> list[tuple[tuple[int, int, int], DocumentChange]]:
        return sorted(
            (each for each in self._records if each[1].document_id == key), key=lambda each: each[0]
        )

    def current(self, key: str) -> str | None:
        records = self._of(key)
        return _text(records[-1][1]) if records else None

    def unreadable(self) -> int:
        return sum(records[-1][1].unreadable for key in KEYS if (records := self._of(key)))

    def text_at(self, key: str, milliseconds: int) -> str | None:
        records = self._of(key)
        before = [record for order, record in records if order[0] <= milliseconds]
        if before:
            return _text(before[-1])
        return next((_text(record) for _, record in records if record.document), None)


def _text(record: DocumentChange) -> str | None:
    return record.document.text if record.document else None


contents = st.sampled_from([None, "x", "x", "y", "unreadable"])
times = st.integers(0, 9) | st.sampled_from([READ + 1, 10**15])  # some clocks are far ahead
records = st.tuples(st.sampled_from(KEYS), contents, st.integers(0, 2), times)
timelines = st.integers(0, 25).flatmap(lambda count: st.lists(records, min_size=count, max_size=count))
Timeline = list[tuple[str, str | None, int, int]]


def changes_of(timeline: Timeline) -> list[DocumentChange]:
    made = [
        change(key, text, partition, offset, timestamp)
        for offset, (key, text, partition, timestamp) in enumerate(timeline)
    ]
    return [
        replace(each, document=None, unreadable=True)
        if each.document and each.document.text == "unreadable"
        else each
        for each in made
    ]


def take_in(store: DocumentStore, changes: Sequence[DocumentChange], size: int) -> None:
    """Take changes in, in batches that overlap: half of each is delivered again with the next."""
    for start in range(0, len(changes), size):
        batch = changes[max(0, start - size // 2) : start + size]
        # In order within a partition, so the last is the highest.
        store.apply(batch, {each.partition: each.offset + 1 for each in batch})


@settings(max_examples=100)
@given(timeline=timelines, size=st.integers(1, 7))
def test_in_one_partition_the_store_says_what_a_list_of_all_records_says(timeline, size, emptied):
    changes = changes_of([(key, text, 0, timestamp) for key, text, _, timestamp in timeline])
    model = TimelineModel(changes)
    emptied.reset(ORIGIN)
    take_in(emptied, changes, size)
    for key in KEYS:
        assert current(emptied, key) == model.current(key)
        for moment in MOMENTS:
            assert text_at(emptied, key, moment) == model.text_at(key, moment)
    assert emptied.unreadable_count == model.unreadable()
    assert len(emptied) == sum(model.current(key) is not None for key in KEYS)


@settings(max_examples=100)
@given(timeline=timelines, size=st.integers(1, 7), order=st.permutations([0, 1, 2]))
def test_of_several_partitions_read_in_any_order_the_newest_record_is_current(timeline, size, order, emptied):
    changes = sorted(changes_of(timeline), key=lambda each: order[each.partition])
    model = TimelineModel(changes)
    emptied.reset(ORIGIN)
    take_in(emptied, changes, size)
    assert {key: current(emptied, key) for key in KEYS} == {key: model.current(key) for key in KEYS}
    assert emptied.unreadable_count == model.unreadable()


@settings(max_examples=100)
@given(timeline=timelines, size=st.integers(1, 7), order=st.permutations([0, 1, 2]))
def test_of_several_partitions_with_differing_texts_every_version_is_in_force_in_its_time(
    timeline, size, order, emptied
):
    differing = [(key, f"text {n}", partition, when) for n, (key, _, partition, when) in enumerate(timeline)]
    changes = sorted(changes_of(differing), key=lambda each: order[each.partition])
    model = TimelineModel(changes)
    emptied.reset(ORIGIN)
    take_in(emptied, changes, size)
    for key in KEYS:
        for moment in MOMENTS:
            assert text_at(emptied, key, moment) == model.text_at(key, moment)


@settings(max_examples=100)
@given(timeline=timelines, cutoff=st.integers(0, 10), most=st.integers(1, 3))
def test_pruning_takes_nothing_that_was_in_force_within_the_time_it_leaves_at_no_point(
    timeline, cutoff, most, emptied
):
    changes = changes_of(timeline)
    emptied.reset(ORIGIN)
    take_in(emptied, changes, 5)
    kept = {(key, moment): text_at(emptied, key, moment) for key in KEYS for moment in range(cutoff, 12)}
    newest = {key: emptied.get(key) for key in KEYS}
    pruned = most
    while pruned == most:
        pruned = emptied.prune(1.0 - cutoff / 1000, most)
        assert {place: text_at(emptied, *place) for place in kept} == kept
        assert {key: emptied.get(key) for key in KEYS} == newest
    assert emptied.prune(1.0 - cutoff / 1000, most) == 0


def test_an_answer_is_judged_against_the_version_of_its_time(store: DocumentStore) -> None:
    # Two records of one key in one batch: neither is lost.
    store.apply([change("a", "old", 0, 0, 1_000), change("a", "new", 0, 1, 2_000)], {0: 2})
    assert [text_at(store, "a", moment) for moment in (1_000, 1_999, 2_000, 9_999)] == [
        "old", "old", "new", "new",
    ]  # fmt: skip
    found = store.version_at("a", at(1_500))
    assert found is not None
    assert found.version == version_name(document("a", "old"))


def test_an_answer_from_before_every_kept_version_is_judged_against_the_oldest(store):
    store.apply([change("a", "first", 0, 0, 1_000), change("a", "second", 0, 1, 2_000)], {0: 2})
    assert text_at(store, "a", 5) == "first"


def test_a_deleted_document_is_there_for_answers_from_before_that_and_for_no_others(store):
    store.apply([change("a", "text", 0, 0, 1_000), change("a", None, 0, 1, 2_000)], {0: 2})
    assert (text_at(store, "a", 1_999), text_at(store, "a", 2_000)) == ("text", None)
    assert (store.get("a"), len(store)) == (None, 0)
    store.apply([change("a", "again", 0, 2, 3_000)], {0: 3})
    assert [text_at(store, "a", moment) for moment in (1_999, 2_500, 3_000)] == ["text", None, "again"]


def test_a_version_that_cannot_be_read_takes_the_older_one_away_for_later_answers_only(store):
    store.apply(
        [change("a", "text", 0, 0, 1_000), DocumentChange("a", None, 0, 1, 2_000, unreadable=True)], {0: 2}
    )
    assert (text_at(store, "a", 1_500), text_at(store, "a", 2_500)) == ("text", None)


def test_of_equal_timestamps_the_later_offset_wins(store):
    store.apply([change("a", "one", 0, 0, 1_000), change("a", "two", 0, 1, 1_000)], {0: 2})
    assert (text_at(store, "a", 1_000), current(store, "a")) == ("two", "two")


def test_a_rollback_counts_from_its_record_and_not_from_its_older_time_of_update(store):
    old, new = document("a", "old"), replace(document("a", "new"), updated_at=WHEN + timedelta(days=1))
    records = [DocumentChange("a", each, 0, n, 1_000 * (n + 1)) for n, each in enumerate([old, new, old])]
    store.apply(records, {0: 3})
    assert [text_at(store, "a", moment) for moment in (1_500, 2_500, 3_500)] == ["old", "new", "old"]


def test_a_record_that_is_read_late_does_not_replace_newer_content_that_was_published_again(store):
    store.apply([change("a", "kept", 0, 0, 1_000), change("a", "kept", 0, 1, 5_000)], {0: 2})
    store.apply([change("a", "moved", 1, 0, 3_000), change("a", None, 1, 1, 4_000)], {1: 2})
    assert (current(store, "a"), text_at(store, "a", 9_000)) == ("kept", "kept")
    store.apply([change("a", "newer", 1, 2, 6_000)], {1: 3})
    assert (current(store, "a"), text_at(store, "a", 5_500)) == ("newer", "kept")


def test_a_document_that_is_marked_to_be_sent_is_another_version(store):
    plain = document("a", "text")
    marked = replace(plain, auto_send=True)
    records = [DocumentChange("a", each, 0, n, 1_000 * (n + 1)) for n, each in enumerate([plain, marked])]
    store.apply(records, {0: 2})
    found = store.get("a")
    assert found is not None
    assert (found.document, found.version) == (marked, version_name(marked))
    assert store.get_version("a", version_name(plain)) == plain


def test_equal_content_published_again_is_not_a_new_version_and_offsets_move_on(store):
    first = document("a", "text")
    store.apply([DocumentChange("a", first, 0, 0, 1_000)], {0: 1})
    with store.snapshot() as snapshot:
        before = snapshot.versions()
    again = replace(first, updated_at=WHEN + timedelta(days=1), url="https://help.example/moved")
    assert store.apply([DocumentChange("a", again, 0, 7, 5_000)], {0: 8}) == ["a"]
    with store.snapshot() as snapshot:
        assert snapshot.versions() == before
        stored = snapshot.get("a")
    assert stored is not None
    assert stored.document == again
    assert store.next_offsets == {0: 8}
    assert store.prune(0, 10) == 0


def test_current_versions_have_the_name_of_their_content(store):
    store.apply(
        [change("a", "one", 0, 0, 1), change("b", "two", 1, 0, 1), change("a", "three", 0, 1, 2)], {0: 2}
    )
    with store.snapshot() as snapshot:
        assert {key: version.name for key, version in snapshot.versions().items()} == {
            "a": version_name(document("a", "three")),
            "b": version_name(document("b", "two")),
        }


def test_versions_are_kept_for_their_time_after_they_were_superseded_and_deletions_too(store):
    days = [change("a", f"day {n}", 0, n, n * DAY * 1000) for n in (10, 60, 80)]
    store.apply([*days, change("b", "text", 0, 90, 1), change("b", None, 0, 91, 75 * DAY * 1000)], {0: 92})
    # It is day 100. Day 10's version was superseded on day 60, and day 60's on day 80.
    assert store.prune(30 * DAY, 500) == 1
    assert text_at(store, "a", 20 * DAY * 1000) == "day 60"
    assert (text_at(store, "b", 70 * DAY * 1000), text_at(store, "b", 76 * DAY * 1000)) == ("text", None)
    assert store.prune(10 * DAY, 500) == 3
    assert (current(store, "a"), text_at(store, "b", 70 * DAY * 1000)) == ("day 80", None)


def test_pruning_forgets_no_more_at_once_than_it_may(store):
    store.apply([change("a", f"{n}", 0, n, n) for n in range(12)], {0: 12})
    assert [store.prune(0, 5) for _ in range(4)] == [5, 5, 1, 0]


def test_a_record_with_a_time_to_come_counts_from_when_it_is_read_and_keeps_nothing_back(store):
    now = 100 * DAY * 1000
    store.apply([change("a", "right", 0, 0, now - 9)], {0: 1})
    store.apply([change("a", "in microseconds", 0, 1, now * 1000)], {0: 2})
    assert (text_at(store, "a", now - 1), text_at(store, "a", now)) == ("right", "in microseconds")
    store.apply([change("a", "right again", 0, 2, now)], {0: 3})
    assert text_at(store, "a", now) == "right again"
    store.apply([change("a", None, 0, 3, now)], {0: 4})
    assert (text_at(store, "a", now), current(store, "a")) == (None, None)


def test_what_was_stored_while_the_worker_s_own_clock_was_ahead_keeps_nothing_back(tmp_path):
    now = 1_000.0
    with closing(DocumentStore(tmp_path, lambda: now)) as store:
        store.reset(ORIGIN)
        store.apply([change("a", "one", 0, 0, 900_000), change("a", "two", 0, 1, 990_000)], {0: 2})
        now = 950.0
        store.apply([change("a", "three", 0, 2, 945_000)], {0: 3})
        assert [text_at(store, "a", moment) for moment in (900_000, 949_999, 950_000)] == [
            "one", "one", "three",
        ]  # fmt: skip
        store.apply([change("a", "moved", 1, 0, 949_000)], {1: 1})
        assert (text_at(store, "a", 950_000), current(store, "a")) == ("three", "three")
        now = 951.0
        store.apply([change("a", None, 1, 1, 951_000)], {1: 2})
        assert (text_at(store, "a", 951_000), current(store, "a")) == (None, None)


def test_a_version_in_place_of_one_that_pruning_forgot_is_a_substitute(store):
    days = [change("a", f"day {n}", 0, n, n * DAY * 1000) for n in (10, 60, 80)]
    store.apply([*days, change("b", "only", 0, 90, 50 * DAY * 1000)], {0: 91})

    def substitute(key: str, day: int) -> bool:
        found = store.version_at(key, at(day * DAY * 1000))
        assert found is not None
        return found.is_substitute

    assert not substitute("a", 20)
    store.prune(30 * DAY, 500)
    assert [substitute("a", day) for day in (20, 59, 60, 99)] == [True, True, False, False]
    assert not substitute("b", 20)
    store.reset(ORIGIN)
    store.apply(days, {0: 91})
    assert not substitute("a", 5)


def test_a_document_is_gone_while_a_deletion_or_an_unreadable_version_is_in_force(store):
    unreadable = DocumentChange("a", None, 0, 3, 4_000, unreadable=True)
    records = [
        change("a", "text", 0, 0, 1_000),
        change("a", None, 0, 1, 2_000),
        change("a", "x", 0, 2, 3_000),
    ]
    store.apply([*records, unreadable], {0: 4})
    gone = [store.was_deleted("a", at(moment)) for moment in (500, 1_000, 2_000, 3_000, 4_000)]
    assert gone == [False, False, True, False, True]
    assert not store.was_deleted("unknown", at(9_000))


def test_a_deletion_that_is_read_late_between_equal_contents_is_passed_over(store):
    store.apply([change("a", "kept", 0, 0, 1_000), change("a", "kept", 0, 1, 5_000)], {0: 2})
    store.apply([change("a", None, 1, 0, 3_000)], {1: 1})
    assert text_at(store, "a", 4_000) == "kept"


def test_a_version_is_found_by_its_name_until_it_is_pruned(store):
    store.apply([change("a", "one", 0, 0, 1), change("a", "two", 0, 1, 2)], {0: 2})
    names = {text: version_name(document("a", text)) for text in ("one", "two", "three")}
    assert store.get_version("a", names["one"]) == document("a", "one")
    assert store.get_version("a", names["two"]) == document("a", "two")
    assert store.get_version("a", names["three"]) is store.get_version("b", names["one"]) is None
    store.prune(0, 10)
    assert store.get_version("a", names["one"]) is None
    assert store.get_version("a", names["two"]) == document("a", "two")
