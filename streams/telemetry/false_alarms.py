"""What libraries call an error and is none: it happens whenever workers come and go, and mends itself."""

from __future__ import annotations

import logging
from typing import Final

from aiokafka.errors import (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    NotCoordinatorForGroupError,
    RebalanceInProgressError,
)

#: The coordinator of a group is made when the first group of a cluster comes, and moves when a broker does.
_COORDINATOR: Final = (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    NotCoordinatorForGroupError,
)
#: Beginnings of lines of aiokafka, each with the errors that it must be about, if with any. What does not
#: mend itself is told by the worker in its own words: it is not ready, or ends.
_HARMLESS: Final[dict[str, tuple[type[BaseException], ...]]] = {
    "Group Coordinator Request failed": _COORDINATOR,
    "FindCoordinator Request failed": _COORDINATOR,
    # It follows from another line that has the reason; alone it says no more than that the coordinator moved.
    "Marking the coordinator dead": (),
    "Heartbeat failed for group %s because it is rebalancing": (),
    "Heartbeat failed for group %s: generation id": (),
    "OffsetCommit failed for group %s due to group error": (RebalanceInProgressError,),
}


class FalseAlarms(logging.Filter):
    """Makes lines for debugging of false alarms.

    Args:
        level: what is below is not written.
    """

    def __init__(self, level: int) -> None:
        super().__init__()
        self._level = level

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record in place; say whether it is still to be written."""
        if record.name.startswith("aiokafka.") and _is_harmless(record):
            record.levelno, record.levelname = logging.DEBUG, logging.getLevelName(logging.DEBUG)
        return record.levelno >= self._level


def _is_harmless(record: logging.LogRecord) -> bool:
    arguments = record.args if isinstance(record.args, tuple) else ()
    for beginning, errors in _HARMLESS.items():
        if str(record.msg).startswith(beginning):
            return not errors or any(isinstance(each, errors) for each in arguments)
    return False
