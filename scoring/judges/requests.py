"""Requests to a model and its replies, and the drivers of a method: blocking, async, and in batches."""

import json
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import astuple, dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

from scoring.values.opinion import Opinion


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user"]
    content: str


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """The JSON schema of a reply, as JSON text so that requests can be compared and hashed.

    It has types, fields and choices only. Limits such as the most entries of a list are left out, since
    not every endpoint takes them; replies are checked for them when they are read.
    """

    name: str
    text: str

    @property
    def content(self) -> dict[str, Any]:
        """The schema itself."""
        content: dict[str, Any] = json.loads(self.text)
        return content


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model.

    ``judge`` is the name of the model in the settings. ``sample`` distinguishes requests that are otherwise
    the same; an endpoint may take it as its seed. ``logprobs`` says that the log probabilities of the reply's
    tokens are of use. ``shortened`` says that the documents were too long and parts are left out.
    """

    messages: tuple[Message, ...]
    schema: ReplySchema
    judge: str
    max_tokens: int
    temperature: float = 0.0
    logprobs: bool = False
    sample: int = 0
    shortened: bool = False

    @property
    def key(self) -> str:
        """A hash of everything in it: the same request has the same key, in every process."""
        return blake2b(json.dumps(astuple(self)).encode(), digest_size=16).hexdigest()


class Finish(StrEnum):
    """Why a reply ends where it does."""

    STOP = "stop"
    LENGTH = "length"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a reply with its log probability, and the likeliest others in its place with theirs."""

    text: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model replied. ``model`` is the name that the endpoint gives it."""

    text: str
    finish: Finish = Finish.STOP
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    logprobs: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """That no reply came. ``code`` is the sender's own, such as ``timeout``."""

    code: str
    seconds: float = 0.0


Outcome: TypeAlias = Reply | Failure
#: Yields the requests of a round, which do not depend on each other, and takes their outcomes in order.
OpinionRounds: TypeAlias = Generator[tuple[Request, ...], tuple[Outcome, ...], Opinion]


def drive(rounds: OpinionRounds, complete_all: Callable[[tuple[Request, ...]], Sequence[Outcome]]) -> Opinion:
    """Return the opinion; ``answer_all`` gives one outcome for each request of a round, in their order."""
    outcomes: Sequence[Outcome] | None = None
    while not isinstance(step := _next(rounds, outcomes), Opinion):
        outcomes = complete_all(step)
    return step


async def drive_async(
    rounds: OpinionRounds, complete_all: Callable[[tuple[Request, ...]], Awaitable[Sequence[Outcome]]]
) -> Opinion:
    """Return the opinion; ``answer_all`` may send the requests of a round at the same time."""
    outcomes: Sequence[Outcome] | None = None
    while not isinstance(step := _next(rounds, outcomes), Opinion):
        outcomes = await complete_all(step)
    return step


def advance(rounds: OpinionRounds, outcomes_by_key: Mapping[str, Outcome]) -> tuple[Request, ...] | Opinion:
    """Return the opinion, or those requests of the first open round whose outcomes are not known, each once.

    ``known`` are the outcomes so far by ``Request.key``. A method asks the same for the same replies, so a
    batch file needs to keep nothing else between its rounds: begin the method anew and bring it here.
    """
    outcomes: Sequence[Outcome] | None = None
    while not isinstance(step := _next(rounds, outcomes), Opinion):
        if missing := [request for request in step if request.key not in outcomes_by_key]:
            rounds.close()
            return tuple(dict.fromkeys(missing))
        outcomes = [outcomes_by_key[request.key] for request in step]
    return step


def _next(rounds: OpinionRounds, outcomes: Sequence[Outcome] | None) -> tuple[Request, ...] | Opinion:
    try:
        return next(rounds) if outcomes is None else rounds.send(tuple(outcomes))
    except StopIteration as stop:
        opinion: Opinion = stop.value
        return opinion
