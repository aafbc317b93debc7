"""What may be committed never passes an event that is still in work."""

from faust.types import TP
from hypothesis import given
from hypothesis import strategies as st

from streams.delivery.faust_consumer import OffsetTracker

TP0 = TP("answers", 0)
TP1 = TP("answers", 1)


def _offsets() -> st.SearchStrategy[list[int]]:
    """Increasing offsets with gaps, as compaction and transaction markers leave them."""
    return st.lists(st.integers(0, 200), unique=True, max_size=40).map(sorted)


def test_nothing_is_committable_before_the_first_event_is_finished() -> None:
    tracker = OffsetTracker()
    tracker.deliver(TP0, 7)
    assert tracker.committable(TP0) is None


def test_a_slow_event_at_the_head_holds_back_all_later_ones() -> None:
    tracker = OffsetTracker()
    for offset in range(5, 10):
        tracker.deliver(TP0, offset)
    tracker.finish(TP0, 5)
    for offset in (9, 8, 7):
        tracker.finish(TP0, offset)
    assert tracker.committable(TP0) == 6
    tracker.finish(TP0, 6)
    assert tracker.committable(TP0) == 10


def test_a_partition_is_in_work_until_its_oldest_event_and_all_after_it_are_finished() -> None:
    tracker = OffsetTracker()
    assert not tracker.has_unfinished(TP0)
    tracker.deliver(TP0, 5)
    tracker.deliver(TP0, 6)
    tracker.finish(TP0, 6)
    assert tracker.has_unfinished(TP0)
    tracker.finish(TP0, 5)
    assert not tracker.has_unfinished(TP0)


def test_partitions_do_not_hold_back_each_other() -> None:
    tracker = OffsetTracker()
    tracker.deliver(TP0, 0)
    tracker.deliver(TP1, 0)
    tracker.finish(TP1, 0)
    assert (tracker.committable(TP0), tracker.committable(TP1)) == (None, 1)


def test_a_late_finish_of_a_forgotten_partition_changes_nothing() -> None:
    tracker = OffsetTracker()
    tracker.deliver(TP0, 0)
    tracker.forget([TP0, TP1])
    tracker.finish(TP0, 0)
    assert tracker.committable(TP0) is None
    assert list(tracker) == []


@given(_offsets(), st.data())
def test_committable_is_the_oldest_unfinished_or_one_past_the_last(
    delivered: list[int], data: st.DataObject
) -> None:
    tracker = OffsetTracker()
    for offset in delivered:
        tracker.deliver(TP0, offset)
    finished = data.draw(st.permutations(delivered))
    count = data.draw(st.integers(0, len(finished)))
    for offset in finished[:count]:
        tracker.finish(TP0, offset)
    unfinished = sorted(set(delivered) - set(finished[:count]))
    committable = tracker.committable(TP0)
    if committable is not None:
        assert all(offset >= committable for offset in unfinished)
        assert committable - 1 in delivered
    done_at_the_head = [o for o in delivered if not unfinished or o < unfinished[0]]
    assert committable == (done_at_the_head[-1] + 1 if done_at_the_head else None)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=60))
def test_the_committable_offset_never_goes_back(steps: list[tuple[bool, int]]) -> None:
    tracker, next_offset, in_work, last = OffsetTracker(), 0, [], 0
    for deliver, pick in steps:
        if deliver or not in_work:
            tracker.deliver(TP0, next_offset)
            in_work.append(next_offset)
            next_offset += 1
        else:
            tracker.finish(TP0, in_work.pop(pick % len(in_work)))
        committable = tracker.committable(TP0) or 0
        assert committable >= last
        last = committable


def test_what_is_finished_in_any_order_is_not_remembered_once_it_can_be_committed() -> None:
    tracker = OffsetTracker()
    for offset in range(100):
        tracker.deliver(TP0, offset)
    for offset in reversed(range(100)):
        tracker.finish(TP0, offset)
    partition = tracker._partitions[TP0]
    assert (tracker.committable(TP0), len(partition.finished), len(partition.delivered)) == (100, 0, 0)
