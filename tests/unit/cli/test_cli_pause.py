"""An operator's command becomes records that every worker can read, and no others."""

import getpass
from datetime import UTC, datetime

import pytest

from scoring.policy import Override, PauseScope, Policy
from scoring.values.exchange import MessageType
from streams.cli.command_output import UsageError
from streams.cli.entry import run
from streams.cli.pause_commands import OperatorAction, entry_name, pauses_as_json
from streams.pause.pause_state import CODEC, PauseState, PauseStatus
from streams.settings import KafkaSettings, Settings
from tests.support.pauses import INSTRUCTIONS_IN_DUTCH, a_pause, pause_record, raw_record

WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
CHANGE = OperatorAction(Settings(kafka=KafkaSettings(topic_prefix="eu.")), "anna", "wrong prices", WHEN)


def taken(*records: object) -> PauseState:
    state = PauseState()
    state.apply(records)
    return state


def test_a_pause_is_read_by_workers_as_it_was_meant():
    record = CHANGE.pause(INSTRUCTIONS_IN_DUTCH)
    assert (record.topic, record.key, record.partition) == ("eu.controls", b"instruction/nl", None)
    (entry,) = taken(raw_record(record.key, record.value)).active
    assert (entry.scope, entry.record.by, entry.record.reason, entry.record.at) == (
        INSTRUCTIONS_IN_DUTCH,
        "anna",
        "wrong prices",
        WHEN,
    )
    assert dict(record.headers)["ce_id"] == b"instruction/nl@2026-03-02T09:15:00Z"


def test_a_pause_is_resumed_in_its_partition():
    (entry,) = taken(pause_record(a_pause("binary"), 3, partition=2)).active
    record = CHANGE.resume(entry)
    assert (record.key, record.partition) == (b"binary/*", 2)
    state = taken(pause_record(a_pause("binary"), 3, partition=2), raw_record(record.key, record.value, 4, 2))
    assert state.active == ()


def test_what_cannot_be_read_is_deleted_in_its_partition():
    (entry,) = taken(raw_record(b"\xff", b"nonsense", 3, partition=2)).active
    record = CHANGE.resume(entry)
    assert (record.key, record.value, record.partition) == (b"\xff", None, 2)


@pytest.mark.parametrize(("by", "reason"), [("", "x"), ("x" * 257, "x"), ("x", ""), ("x", "x" * 1001)])
def test_what_workers_could_not_read_is_not_written(by, reason):
    with pytest.raises(UsageError, match="should have at"):
        OperatorAction(Settings(), by, reason).pause(PauseScope())


def test_statuses_are_those_of_the_contract():
    value = CHANGE.pause(PauseScope()).value
    assert value is not None
    assert b"paused" in value
    assert {status.value for status in PauseStatus} == {"paused", "resumed"}
    assert value.startswith(CODEC.encode(a_pause())[:10])


def test_who_has_no_name_must_give_one(monkeypatch, capsys):
    def nobody() -> str:
        raise OSError("No username set in the environment")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert run(["pause", "--reason", "x"]) == 2
    assert capsys.readouterr().err == "truthgate: the user has no name here: say who with --by\n"


def test_pauses_are_listed_with_those_of_the_settings_first():
    policy = Policy(overrides=(Override(MessageType.BINARY, pause=True),))
    state = taken(pause_record(a_pause(language="nl")), raw_record(b"x", b"nonsense", 7))
    assert list(pauses_as_json(policy, state.active)) == [
        {"source": "settings", "message_type": "binary", "language": None},
        {
            "source": "operator",
            "message_type": None,
            "language": "nl",
            "since": "2026-03-02T09:15:00Z",
            "by": "anna",
            "reason": "wrong prices",
        },
        {"source": "unreadable", "at": "0:7", "error": "unknown_format"},
    ]
    assert [entry_name(entry) for entry in state.active] == [
        "all answers in nl",
        "everything, by an unreadable record at 0:7",
    ]
