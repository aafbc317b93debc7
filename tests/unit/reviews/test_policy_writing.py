"""What a command and a lead may change of a policy, and the record that both write."""

from dataclasses import replace

import pytest

from streams.reviews.policy_records import SETTINGS_VERSION, Change
from streams.reviews.policy_state import PolicyState
from streams.reviews.policy_writing import change_refusal, policy_record
from tests.support.clock import Clock
from tests.support.pauses import raw_record
from tests.support.policies import a_change, a_fitted_policy, change_record, policy_state

APPROVED, WITHDRAWN = Change.APPROVED, Change.WITHDRAWN
NL = "instruction nl"


@pytest.mark.parametrize(
    ("version", "change", "group", "refusal"),
    [
        ("v", APPROVED, None, None),
        ("w", APPROVED, None, "not_proposed"),
        ("broken", APPROVED, None, "unreadable"),
        ("nothing", APPROVED, None, "promises_nothing"),
        (SETTINGS_VERSION, APPROVED, None, None),
        ("v", WITHDRAWN, None, None),
        ("v", WITHDRAWN, NL, None),
        ("v", WITHDRAWN, "orders nl", "no_such_group"),
        ("w", WITHDRAWN, None, "not_proposed"),
        ("broken", WITHDRAWN, None, None),
        ("broken", WITHDRAWN, NL, "no_such_group"),
        (SETTINGS_VERSION, WITHDRAWN, None, "not_proposed"),
    ],
)
def test_only_what_workers_can_read_is_approved_and_what_is_there_can_be_withdrawn(
    version: str, change: Change, group: str | None, refusal: str | None
) -> None:
    nothing = replace(a_fitted_policy(), certificates=())
    attempt = a_change("nothing", Change.PROPOSED, fitted=nothing)
    state = policy_state(Clock(), a_change("v", Change.PROPOSED), attempt)
    state.apply([raw_record(b"broken/proposed", b"x", 2)])
    assert change_refusal(state, version, change, group) == refusal


def test_the_record_of_a_change_is_read_as_it_was_written() -> None:
    change = a_change("v", WITHDRAWN, NL)
    record = policy_record(change, "desk")
    assert record[:2] == (change_record(change).key, change_record(change).value)
    assert dict(record.headers)["ce_source"] == b"/truthgate/desk"
    assert dict(record.headers)["ce_type"] == b"truthgate.PolicyChange"
    state = PolicyState(Clock())
    state.apply([raw_record(record.key, record.value)])
    assert state.version("v").entries[0].change == change


@pytest.mark.parametrize("reason", ["", "x" * 1_001, "\ud800"])
def test_a_record_that_no_worker_could_read_is_refused(reason: str) -> None:
    change = a_change("v", APPROVED)
    with pytest.raises(ValueError, match="cannot be written"):
        policy_record(type(change)(change.version, change.change, None, change.at, "anna", reason), "desk")
