"""The asking of a round: requests out, replies in, one attempt to have a malformed reply repaired."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeAlias, TypeVar

from scoring.judges import prompts
from scoring.judges.replies.forms import Form
from scoring.judges.replies.reading import Malformed, read
from scoring.judges.requests import Failure, Finish, Message, Outcome, Reply, Request
from scoring.values.opinion import Unsure

F = TypeVar("F", bound=Form)
T = TypeVar("T")

#: A part of a method: asks rounds, and returns what it made of them.
Rounds: TypeAlias = Generator[tuple[Request, ...], tuple[Outcome, ...], T]


@dataclass(frozen=True, slots=True)
class Ask(Generic[F]):
    """A request with the form that its reply must have.

    ``check`` says what else is wrong with a reply, in words of ours, or None.
    """

    request: Request
    form: type[F]
    check: Callable[[F], str | None] | None = None


@dataclass(frozen=True, slots=True)
class Said(Generic[F]):
    """What a model said, and the reply that it said it in."""

    form: F
    reply: Reply


class NoOpinion(Exception):
    """A reply that a method cannot do without is not there, or the answer is not for it."""

    def __init__(self, reason: Unsure) -> None:
        super().__init__(reason)
        self.reason = reason


def ask_all(asks: Sequence[Ask[F]]) -> Rounds[tuple[Said[F] | Unsure, ...]]:
    """Ask at once; yields a round, and a second one for those replies that were malformed."""
    outcomes = yield tuple(ask.request for ask in asks)
    results = [_result(ask, outcome) for ask, outcome in zip(asks, outcomes, strict=True)]
    broken = {number: result for number, result in enumerate(results) if isinstance(result, Malformed)}
    if not broken:
        return _final(results)
    repairs = [replace(asks[number], request=_repair(asks[number], why)) for number, why in broken.items()]
    outcomes = yield tuple(ask.request for ask in repairs)
    for number, ask, outcome in zip(broken, repairs, outcomes, strict=True):
        results[number] = _result(ask, outcome)
    return _final(results)


def ask_each(asks: Sequence[Ask[F]]) -> Rounds[list[Said[F]]]:
    """Ask at once; raises NoOpinion with the reason of the first that has no usable reply."""
    said = []
    for each in (yield from ask_all(asks)):
        if isinstance(each, Unsure):
            raise NoOpinion(each)
        said.append(each)
    return said


def ask_one(ask: Ask[F]) -> Rounds[Said[F]]:
    """Ask one request; raises NoOpinion where it has no usable reply."""
    (said,) = yield from ask_each([ask])
    return said


def _result(ask: Ask[F], outcome: Outcome) -> Said[F] | Unsure | Malformed:
    if isinstance(outcome, Failure):
        return Unsure.NO_REPLY
    if outcome.finish is not Finish.STOP:
        return Unsure.REFUSED if outcome.finish is Finish.REFUSED else Unsure.CUT_OFF
    if not outcome.text.strip():
        return Unsure.EMPTY
    try:
        form = read(outcome.text, ask.form)
    except Malformed as malformed:
        return malformed
    problem = ask.check(form) if ask.check else None
    return Malformed(problem) if problem else Said(form, outcome)


def _final(results: Sequence[Said[F] | Unsure | Malformed]) -> tuple[Said[F] | Unsure, ...]:
    return tuple(Unsure.MALFORMED if isinstance(each, Malformed) else each for each in results)


def _repair(ask: Ask[F], malformed: Malformed) -> Request:
    """Return the request with what was wrong behind the data.

    The reply itself is not shown: it may quote hostile data outside any fence. It stays one message, since
    the templates of many models refuse two of a user in a row.
    """
    *before, last = ask.request.messages
    note = prompts.filled("repair", {"problem": malformed})
    return replace(ask.request, messages=(*before, Message("user", f"{last.content}\n\n{note}")))
