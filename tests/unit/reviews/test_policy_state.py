"""Which policy decides is a function of the topic's records alone."""

from dataclasses import replace

import pytest
from aiokafka import ConsumerRecord
from hypothesis import given
from hypothesis import strategies as st

from schemas import Codec
from streams.reviews.policy_records import CODEC, SETTINGS_VERSION, Change, policy_key
from streams.reviews.policy_state import STALE_SECONDS, PolicyState, PolicyStatus, PolicyVersion
from tests.support.clock import Clock
from tests.support.pauses import raw_record
from tests.support.policies import a_certificate, a_change, a_fitted_policy, change_record, policy_state
from tests.support.record_strategies import ANSWER

NEW, OLD = "fitted-2", "fitted-1"
GROUP = "instruction nl"
PROPOSED, APPROVED, WITHDRAWN = (a_change(NEW, change) for change in Change)


def outcome(state: PolicyState) -> tuple[object, ...]:
    current = state.current
    return current.version, current.fitted, state.status(current), current.withdrawn_groups, state.is_known


def decides(*changes, clock: Clock | None = None) -> tuple[str, PolicyStatus]:
    state = policy_state(clock or Clock(), *changes)
    return state.current.version, state.status(state.current)


def test_without_any_record_the_settings_decide():
    assert outcome(policy_state(Clock())) == ("settings", None, PolicyStatus.ACTIVE, frozenset(), True)


def test_a_proposal_alone_changes_nothing():
    state = policy_state(Clock(), PROPOSED)
    assert state.current.version == SETTINGS_VERSION
    assert state.status(state.version(NEW)) is PolicyStatus.PROPOSED


def test_what_was_approved_last_decides_with_its_content():
    other = a_fitted_policy(a_certificate(threshold=0.1))
    state = policy_state(
        Clock(),
        a_change(OLD, Change.PROPOSED, fitted=other),
        PROPOSED,
        a_change(OLD, Change.APPROVED),
        APPROVED,
    )
    assert (state.current.version, state.current.fitted) == (NEW, a_fitted_policy())
    assert state.is_known
    statuses = {each.version: state.status(each) for each in state.versions}
    assert statuses == {OLD: PolicyStatus.REPLACED, NEW: PolicyStatus.ACTIVE}


def test_a_withdrawn_policy_stays_the_current_one_until_something_is_approved():
    until = (a_change(OLD, Change.PROPOSED), a_change(OLD, Change.APPROVED), PROPOSED, APPROVED, WITHDRAWN)
    assert decides(*until) == (NEW, PolicyStatus.WITHDRAWN)
    assert decides(*until, a_change(OLD, Change.APPROVED)) == (OLD, PolicyStatus.ACTIVE)
    assert decides(*until, APPROVED) == (NEW, PolicyStatus.ACTIVE)
    assert decides(*until, a_change("settings", Change.APPROVED)) == ("settings", PolicyStatus.ACTIVE)


def test_withdrawing_another_version_than_the_current_one_changes_nothing():
    assert decides(PROPOSED, APPROVED, a_change(OLD, Change.WITHDRAWN)) == (NEW, PolicyStatus.ACTIVE)


def test_the_settings_can_be_withdrawn_before_anything_was_approved():
    assert decides(a_change("settings", Change.WITHDRAWN)) == ("settings", PolicyStatus.WITHDRAWN)


def test_a_group_is_withdrawn_until_the_next_approval():
    state = policy_state(Clock(), PROPOSED, APPROVED, a_change(NEW, Change.WITHDRAWN, GROUP))
    assert (state.status(state.current), state.current.withdrawn_groups) == (
        PolicyStatus.ACTIVE,
        frozenset({GROUP}),
    )
    state.apply([change_record(APPROVED, 3)])
    assert state.current.withdrawn_groups == frozenset()


@pytest.mark.parametrize(
    "change",
    [
        a_change(NEW, "suspended"),
        a_change(NEW, "suspended", GROUP),
        a_change(NEW, Change.APPROVED, GROUP),
        replace(PROPOSED, group=GROUP),
    ],
)
def test_what_is_unknown_here_withdraws(change):
    assert decides(PROPOSED, APPROVED, change) == (NEW, PolicyStatus.WITHDRAWN)


@pytest.mark.parametrize("key", [f"{NEW}/withdrawn/{GROUP}", f"{NEW}/approved", f"{NEW}/later", NEW])
@pytest.mark.parametrize("value", [b"nonsense", b"", Codec().encode(ANSWER), CODEC.encode(PROPOSED)])
def test_a_record_that_cannot_be_read_withdraws_its_version(key, value):
    state = policy_state(Clock(), PROPOSED, APPROVED)
    (entry,) = state.apply([raw_record(key.encode(), value, 2)])
    assert entry.error
    assert outcome(state)[:3] == (NEW, a_fitted_policy(), PolicyStatus.WITHDRAWN)
    state.apply([change_record(a_change("settings", Change.APPROVED), 3)])
    assert outcome(state)[0] == "settings"


def test_an_approval_that_cannot_be_read_opens_no_older_version():
    older = a_change(OLD, Change.PROPOSED), a_change(OLD, Change.APPROVED)
    state = policy_state(Clock(), *older, PROPOSED)
    state.apply([raw_record(policy_key(NEW, Change.APPROVED), b"nonsense", 3)])
    assert outcome(state)[0::2][:2] == (NEW, PolicyStatus.WITHDRAWN)


OF_ANOTHER_MODEL = a_change(NEW, Change.PROPOSED, fitted=a_fitted_policy(a_certificate(model="x+1")))


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (b"nonsense", "unknown_format"),
        (CODEC.encode(replace(PROPOSED, content=None)), None),
        (CODEC.encode(OF_ANOTHER_MODEL), "unusable_content"),
    ],
)
def test_without_content_the_policy_is_unknown(value, error):
    state = policy_state(Clock(), APPROVED)
    assert outcome(state) == (NEW, None, PolicyStatus.ACTIVE, frozenset(), False)
    (entry,) = state.apply([raw_record(policy_key(NEW, Change.PROPOSED), value, 1)])
    assert (entry.error, state.is_known) == (error, False)
    state.apply([change_record(PROPOSED, 2)])
    assert state.is_known


def test_a_proposal_that_cannot_be_read_is_harmless_until_it_is_approved():
    state = policy_state(Clock(), PROPOSED, APPROVED)
    state.apply([raw_record(policy_key(OLD, Change.PROPOSED), b"nonsense", 2)])
    assert (state.current.version, state.is_known) == (NEW, True)


def test_a_topic_without_word_from_the_brokers_is_unknown_after_ten_seconds():
    clock = Clock()
    state = policy_state(clock, PROPOSED, APPROVED)
    clock.now += STALE_SECONDS
    assert state.is_known
    clock.now += 0.1
    assert not state.is_known


def test_a_topic_that_is_read_anew_starts_from_nothing():
    state = policy_state(Clock(), PROPOSED, APPROVED)
    state.forget()
    assert outcome(state) == ("settings", None, PolicyStatus.ACTIVE, frozenset(), False)
    assert state.versions == ()


def test_records_in_another_partition_have_no_order_so_nothing_is_known():
    state = policy_state(Clock(), PROPOSED, APPROVED)
    state.apply([change_record(a_change(OLD, Change.WITHDRAWN), 2, partition=1)])
    assert not state.is_known


keys = st.sampled_from(
    [
        policy_key(version, change, group)
        for version in (NEW, OLD, SETTINGS_VERSION)
        for change, group in [*((each, None) for each in (*Change, "later")), (Change.WITHDRAWN, GROUP)]
    ]
)


def _value(key: bytes) -> bytes:
    version, change, *groups = key.decode().split("/")
    return CODEC.encode(a_change(version, change, *groups))


@st.composite
def topics(draw: st.DrawFn) -> list[ConsumerRecord]:
    drawn = draw(st.lists(st.tuples(keys, st.sampled_from("rrrru")), max_size=12))
    return [
        raw_record(key, _value(key) if kind == "r" else b"nonsense", offset)
        for offset, (key, kind) in enumerate(drawn)
    ]


def _read(records: list[ConsumerRecord]) -> PolicyState:
    state = policy_state(Clock())
    state.apply(records)
    return state


@given(topics(), st.data())
def test_compaction_repeats_and_batches_change_nothing(records, data):
    whole = outcome(_read(records))
    upto = data.draw(st.integers(0, len(records)))
    last = {record.key: record for record in records[:upto]}
    compacted = [record for record in records[:upto] if last[record.key] is record]
    assert outcome(_read(compacted + records[upto:])) == whole
    again = _read(records[:upto])
    again.apply(records)
    assert outcome(again) == whole
    again.apply(records[upto:])
    assert outcome(again) == whole


@given(topics())
def test_the_current_version_is_what_a_plain_reading_says(records):
    """As a person would follow the topic: each record changes what was said until then."""
    current, approved, withdrawn = SETTINGS_VERSION, set[str](), set[str]()
    groups, content = set[tuple[str, str]](), set[str]()
    for record in records:
        version, change, *group = record.key.decode().split("/")
        readable = record.value != b"nonsense"
        if change == Change.PROPOSED:
            (content.add if readable else content.discard)(version)
        elif change == Change.APPROVED:
            current = version
            approved.add(version)
            groups = {each for each in groups if each[0] != version}
            (withdrawn.discard if readable else withdrawn.add)(version)
        elif group and readable:
            groups.add((version, group[0]))
        else:
            withdrawn.add(version)
    state = _read(records)
    status = PolicyStatus.WITHDRAWN if current in withdrawn else PolicyStatus.ACTIVE
    assert (state.current.version, state.status(state.current)) == (current, status)
    assert state.current.withdrawn_groups == {group for version, group in groups if version == current}
    assert state.is_known is (current == SETTINGS_VERSION or current in content)


def test_a_tombstone_takes_its_record_away():
    state = policy_state(Clock(), PROPOSED, APPROVED)
    (entry,) = state.apply([raw_record(policy_key(NEW, Change.APPROVED), None, 2)])
    assert (entry.change, entry.error) == (None, None)
    assert state.current == PolicyVersion(SETTINGS_VERSION)
