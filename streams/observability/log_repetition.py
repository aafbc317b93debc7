"""Limits repeated log lines: thousands of equal lines a minute hide the one that matters."""

import atexit
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from aiokafka.errors import GroupCoordinatorNotAvailableError, KafkaConnectionError, NodeNotReadyError

#: The field with the number of lines of the same kind that were not written.
LEFT_OUT: Final = "left_out"

#: Libraries that repeat lines while a collector or a broker is unreachable, with the seconds between two.
_LIBRARY_SECONDS: Final[Mapping[str, float]] = {
    **dict.fromkeys(("opentelemetry", "grpc"), 60.0),
    **dict.fromkeys(("aiokafka", "faust", "mode"), 10.0),
}
#: Our own lines of which one bad producer, or a broker that is gone, makes thousands.
_REPETITIVE_EVENTS: Final = frozenset(
    {
        *("answer_not_judged", "bad_document", "dead_letter", "document_language_unknown"),
        *("desk_rate_limited", "desk_record_unreadable", "known_answer_unreadable"),
        *("progress_unknown", "rating_record_unreadable", "review_refused", "unreadable_verdict"),
        "verdict_not_published",
    }
)
_EVENT_SECONDS: Final = 10.0
#: What aiokafka reports in several places, and many times a second, while a broker cannot be reached.
_DISCONNECTED: Final = (NodeNotReadyError, KafkaConnectionError, GroupCoordinatorNotAvailableError, OSError)
_DISCONNECTED_LINES: Final = ("Unable connect to node", "Unable to update metadata")

_Kind = tuple[object, ...]


class Timer(Protocol):
    """What is used of :class:`threading.Timer`."""

    daemon: bool

    def start(self) -> None:
        """Start to wait."""

    def cancel(self) -> None:
        """Wait no longer."""


@dataclass(slots=True)
class _Interval:
    """The time after a written line, and the lines of its kind that came in it."""

    timer: Timer
    count: int = 0
    last: logging.LogRecord | None = None


class RepetitionFilter(logging.Filter):
    """Passes one line of a kind per interval.

    At the end of an interval the last of the lines that came in it is written, with the number of the others.
    So the size of a burst is known, whether or not another line follows.

    Args:
        write: writes a line at the end of an interval, from another thread.
        timer: creates the timer of an interval: seconds, and what to call then.
    """

    def __init__(
        self,
        write: Callable[[logging.LogRecord], object],
        timer: Callable[[float, Callable[[], None]], Timer] = threading.Timer,
    ) -> None:
        super().__init__()
        self._write = write
        self._timer = timer
        self._lock = threading.Lock()
        self._intervals: dict[_Kind, _Interval] = {}
        atexit.register(self._end_all)

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the line is to be written now."""
        found = _kind_and_interval(record)
        if found is None or hasattr(record, LEFT_OUT):
            return True
        kind, seconds = found
        with self._lock:
            if interval := self._intervals.get(kind):
                interval.count, interval.last = interval.count + 1, record
                return False
            self._begin(kind, seconds)
        return True

    def _begin(self, kind: _Kind, seconds: float) -> None:
        timer = self._timer(seconds, lambda: self._end(kind, seconds))
        timer.daemon = True
        self._intervals[kind] = _Interval(timer)
        timer.start()

    def _end(self, kind: _Kind, seconds: float) -> None:
        with self._lock:
            interval = self._intervals.pop(kind, None)
            if interval is None or interval.last is None:
                return
            self._begin(kind, seconds)
        self._write(_with_count(interval.last, interval.count - 1))

    def _end_all(self) -> None:
        with self._lock:
            intervals, self._intervals = list(self._intervals.values()), {}
        for interval in intervals:
            interval.timer.cancel()
            if interval.last:
                self._write(_with_count(interval.last, interval.count - 1))


def _kind_and_interval(record: logging.LogRecord) -> tuple[_Kind, float] | None:
    """Return what a line has in common with its repetitions, and their interval; None if all are written."""
    if isinstance(record.msg, dict):  # ours
        if record.msg.get("event") not in _REPETITIVE_EVENTS:
            return None
        return tuple(record.msg.get(name) for name in ("event", "stage", "error_type")), _EVENT_SECONDS
    library = record.name.partition(".")[0]
    if not (seconds := _LIBRARY_SECONDS.get(library)):
        return None
    if library in ("opentelemetry", "grpc"):
        return (library,), seconds
    return (library, "disconnected") if _is_disconnected(record) else (record.name, record.lineno), seconds


def _is_disconnected(record: logging.LogRecord) -> bool:
    arguments = record.args if isinstance(record.args, tuple) else ()
    return str(record.msg).startswith(_DISCONNECTED_LINES) or any(
        isinstance(each, _DISCONNECTED) for each in arguments
    )


def _with_count(record: logging.LogRecord, number: int) -> logging.LogRecord:
    if isinstance(record.msg, dict):
        record.msg = {**record.msg, LEFT_OUT: number}
    setattr(record, LEFT_OUT, number)
    return record
