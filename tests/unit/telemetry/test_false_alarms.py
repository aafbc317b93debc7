"""What mends itself is no error in the log; what does not is."""

import logging

import pytest
from aiokafka.errors import (
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    IllegalGenerationError,
    RebalanceInProgressError,
)

from streams.observability.logs import FalseAlarmFilter

COORDINATOR = "aiokafka.consumer.group_coordinator"


def _record(name: str, message: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord(name, logging.ERROR, "", 1, message, arguments, None)


HARMLESS = [
    (COORDINATOR, "Group Coordinator Request failed: %s", GroupCoordinatorNotAvailableError()),
    ("aiokafka.producer.sender", "FindCoordinator Request failed: %s", GroupCoordinatorNotAvailableError()),
    (COORDINATOR, "Heartbeat failed for group %s because it is rebalancing", "gate"),
    (COORDINATOR, "Marking the coordinator dead (node %s)for group %s.", "1", "gate"),
    (
        COORDINATOR,
        "OffsetCommit failed for group %s due to group error (%s), will rejoin",
        "gate",
        RebalanceInProgressError("gate"),
    ),
]


@pytest.mark.parametrize("line", HARMLESS)
def test_what_every_rebalance_and_first_start_says_is_for_debugging_alone(line: tuple[str, ...]) -> None:
    assert not FalseAlarmFilter(logging.INFO).filter(_record(*line))
    record = _record(*line)
    assert FalseAlarmFilter(logging.DEBUG).filter(record)
    assert (record.levelno, record.levelname) == (logging.DEBUG, "DEBUG")


@pytest.mark.parametrize(
    "line",
    [
        (COORDINATOR, "Group Coordinator Request failed: %s", GroupAuthorizationFailedError("gate")),
        (
            COORDINATOR,
            "OffsetCommit failed for group %s due to group error (%s), will rejoin",
            "gate",
            IllegalGenerationError("gate"),
        ),
        (COORDINATOR, "Heartbeat session expired - marking coordinator dead"),
        ("somebody.else", "Heartbeat failed for group %s because it is rebalancing", "gate"),
    ],
)
def test_what_does_not_mend_itself_stays_an_error(line: tuple[str, ...]) -> None:
    record = _record(*line)
    assert FalseAlarmFilter(logging.INFO).filter(record)
    assert record.levelno == logging.ERROR
