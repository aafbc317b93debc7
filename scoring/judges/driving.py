"""The drivers of a method: one for a caller that blocks, one for an event loop, one for a file of replies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from scoring.judges.requests import Asking, Outcome, Request
from scoring.values.opinion import Opinion


def drive(asking: Asking, answer_all: Callable[[tuple[Request, ...]], Sequence[Outcome]]) -> Opinion:
    """Return the opinion; ``answer_all`` gives one outcome for each request of a round, in their order."""
    outcomes: Sequence[Outcome] | None = None
    while not isinstance(step := _next(asking, outcomes), Opinion):
        outcomes = answer_all(step)
    return step


async def drive_async(
    asking: Asking, answer_all: Callable[[tuple[Request, ...]], Awaitable[Sequence[Outcome]]]
) -> Opinion:
    """Return the opinion; ``answer_all`` may send the requests of a round at the same time."""
    outcomes: Sequence[Outcome] | None = None
    while not isinstance(step := _next(asking, outcomes), Opinion):
        outcomes = await answer_all(step)
    return step


def advance(asking: Asking, known: Mapping[str, Outcome]) -> tuple[Request, ...] | Opinion:
    """Return the opinion, or those requests of the first open round whose outcomes are not known, each once.

    ``known`` are the outcomes so far by ``Request.key``. A method asks the same for the same replies, so a
    batch file needs to keep nothing else between its rounds: begin the method anew and bring it here.
    """
    outcomes: Sequence[Outcome] | None = None
    while not isinstance(step := _next(asking, outcomes), Opinion):
        if missing := [request for request in step if request.key not in known]:
            asking.close()
            return tuple(dict.fromkeys(missing))
        outcomes = [known[request.key] for request in step]
    return step


def _next(asking: Asking, outcomes: Sequence[Outcome] | None) -> tuple[Request, ...] | Opinion:
    try:
        return next(asking) if outcomes is None else asking.send(tuple(outcomes))
    except StopIteration as stop:
        opinion: Opinion = stop.value
        return opinion
