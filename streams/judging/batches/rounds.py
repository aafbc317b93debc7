"""The state of a batch: the requests of the next round, and the opinions that are done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scoring.judges import Case, JudgeOptions, Outcome, Request, advance, ask
from scoring.values.opinion import Opinion


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the judging of several cases is.

    ``requests`` are to be sent next, each once. ``opinions`` are in the order of the cases, None where
    one waits for a reply.
    """

    requests: tuple[Request, ...]
    opinions: tuple[Opinion | None, ...]


def standing(
    cases: Iterable[Case], method: str, options: JudgeOptions, known: Mapping[str, Outcome]
) -> Standing:
    """Begin the method anew for every case and take it as far as the ``known`` replies go.

    Raises KeyError where there is no such method.
    """
    requests: dict[str, Request] = {}
    opinions: list[Opinion | None] = []
    for case in cases:
        step = advance(ask(case, method, options), known)
        opinions.append(step if isinstance(step, Opinion) else None)
        if not isinstance(step, Opinion):
            requests |= {request.key: request for request in step}
    return Standing(tuple(requests.values()), tuple(opinions))
