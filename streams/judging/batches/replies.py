"""The lines of replies, in OpenAI's batch output format, and what is known by them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Annotated, Any

from pydantic import Field, FiniteFloat

from schemas.records import Identifier
from scoring.judges import Failure, Finish, Outcome, Reply
from streams.judging.endpoints.completion import reply_of
from streams.judging.endpoints.faults import Fault, NotAnswered
from streams.judging.endpoints.statuses import not_answered

#: Of a request that nobody replied to.
_NO_REPLY = "no_reply"


@dataclass(frozen=True, slots=True)
class Response:
    """What the endpoint sent; ``seconds`` is no part of OpenAI's format, but told by who measures it."""

    status_code: int
    body: Any = None
    seconds: Annotated[FiniteFloat, Field(ge=0)] = 0.0


@dataclass(frozen=True, slots=True)
class ReplyLine:
    """One line: the request that it is about, and the response, or the error in its place."""

    custom_id: Identifier
    response: Response | None = None
    error: Any = None

    @property
    def outcome(self) -> Outcome:
        """What became of the request."""
        if self.response is None or self.error is not None:
            return Failure(_NO_REPLY)
        body, seconds = json.dumps(self.response.body).encode(), self.response.seconds
        found: Reply | NotAnswered = (
            reply_of(body)
            if self.response.status_code == HTTPStatus.OK
            else not_answered(self.response.status_code, {}, body)
        )
        if isinstance(found, Reply):
            return replace(found, seconds=seconds)
        # The same filter gives the same answer: asking again is of no use.
        if found.fault is Fault.FILTERED:
            return Reply("", Finish.REFUSED, seconds=seconds)
        return Failure(found.fault.value, seconds)


@dataclass(slots=True)
class Replies(Mapping[str, Outcome]):
    """The replies so far, by the keys of requests; remembers which of them a method has looked for.

    With ``give_up`` there is a failure for every request without a reply, whether it was asked or not;
    otherwise it is as if it had not been asked.
    """

    give_up: bool = False
    repeated: int = 0
    _replies: dict[str, Reply] = field(default_factory=dict)
    _failures: dict[str, Failure] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)

    def add(self, line: ReplyLine) -> None:
        """Take in a line; of several replies the first counts, since later rounds are built on it."""
        outcome = line.outcome
        if isinstance(outcome, Failure):
            self._failures[line.custom_id] = outcome
        elif line.custom_id in self._replies:
            self.repeated += 1
        else:
            self._replies[line.custom_id] = outcome

    @property
    def failed(self) -> Collection[str]:
        """The requests that were answered by an error alone."""
        return self._failures.keys() - self._replies.keys()

    @property
    def unknown(self) -> Collection[str]:
        """The keys of replies that no method has looked for."""
        return {*self._replies, *self._failures} - self._asked

    def __contains__(self, key: object) -> bool:
        self._asked.add(str(key))
        return key in self._replies or self.give_up

    def __getitem__(self, key: str) -> Outcome:
        if key in self._replies:
            return self._replies[key]
        if self.give_up:
            return self._failures.get(key, Failure(_NO_REPLY))
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._replies)

    def __len__(self) -> int:
        return len(self._replies)
