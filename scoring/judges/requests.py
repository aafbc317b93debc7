"""The requests that a method yields and the replies that it takes: plain values, whoever sends them."""

from __future__ import annotations

import json
from collections.abc import Generator
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

    ``judge`` is the name of the model in the settings. ``sample`` tells requests apart that are otherwise
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
    others: tuple[tuple[str, float], ...] = ()


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
Asking: TypeAlias = Generator[tuple[Request, ...], tuple[Outcome, ...], Opinion]
