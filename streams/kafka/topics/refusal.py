"""The refusal to work on topics that are missing or fall short, in a few short lines."""

from __future__ import annotations

from collections.abc import Sequence

from streams.kafka.topics.operations import TopicCheck
from streams.settings import WrongSettings

#: A terminal shows what is worth reading at once; `truthgate topics check` tells the rest.
_NAMED = 3


def refuse_wrong_topics(checks: Sequence[TopicCheck]) -> None:
    """Let topics pass that are as they are needed; warnings are no reason to refuse.

    Raises:
        WrongSettings: with what is missing, what falls short, and what helps, a line each.
    """
    missing = [check.spec.name for check in checks if check.actual is None]
    short = [check for check in checks if check.actual is not None and check.problems]
    if not missing and not short:
        return
    lines = _falling_short(short)
    if missing:
        lines.insert(0, f"{len(missing)} of {len(checks)} topics are missing: {_some(missing)}")
    made = "`truthgate topics create` makes what is missing; " if missing else ""
    raise WrongSettings(lines[0], *lines[1:], f"{made}`truthgate topics check` says what each needs")


def _falling_short(checks: Sequence[TopicCheck]) -> list[str]:
    lines = [f"topic {check.spec.name} {', '.join(check.problems)}" for check in checks[:_NAMED]]
    left = [check.spec.name for check in checks[_NAMED:]]
    return [*lines, f"so do not fit: {_some(left)}"] if left else lines


def _some(names: Sequence[str]) -> str:
    named = ", ".join(names[:_NAMED])
    return f"{named} and {len(names) - _NAMED} more" if len(names) > _NAMED else named
