"""Batch files: requests out, replies in, and the opinions that result."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from schemas.records import ChatbotAnswer, Identifier
from scoring.judges import Case, Failure, Finish, JudgeOptions, Outcome, Reply, Request, advance, ask
from scoring.judges.opinion_json import OpinionForm
from scoring.values.opinion import Opinion
from streams.llm.endpoints.chat_completion import AcceptedParameters, chat_body, parse_completion
from streams.llm.endpoints.faults import EndpointFault, NoReply, no_reply_from_status

_BYTES = 16


class AnswerKey(NamedTuple):
    """An answer's id and the hash of its question and answer.

    Files in two languages may have the same ids, and an edited answer is a different one.
    """

    answer_id: str
    answer_hash: str

    @classmethod
    def of(cls, answer: ChatbotAnswer) -> AnswerKey:
        """Return the key of an answer."""
        digest = blake2b(digest_size=_BYTES)
        for text in (answer.question, answer.answer):
            content = text.encode("utf-8", "surrogatepass")
            digest.update(len(content).to_bytes(8, "little") + content)
        return cls(answer.answer_id, digest.hexdigest())


class OpinionLine(BaseModel):
    """One line of a file of opinions: the answer, and the opinion in its strict, versioned form."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    answer_id: Identifier
    answer_hash: Annotated[str, Field(pattern=f"^[0-9a-f]{{{2 * _BYTES}}}$")]
    opinion: OpinionForm

    @property
    def key(self) -> AnswerKey:
        """The answer that the opinion is on."""
        return AnswerKey(self.answer_id, self.answer_hash)


def opinion_line(key: AnswerKey, opinion: Opinion) -> dict[str, Any]:
    """Return a line of a file of opinions as JSON values."""
    return {**key._asdict(), "opinion": OpinionForm.of(opinion).model_dump(mode="json")}


_URL = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class JudgeModels:
    """The model of each judge: its own, or else the default, or else the one with the judge's name."""

    default: str | None = None
    by_judge: Mapping[str, str] = field(default_factory=dict)

    def model_for(self, judge: str) -> str:
        """Return the model to ask."""
        return self.by_judge.get(judge) or self.default or judge


def request_line(request: Request, models: JudgeModels) -> dict[str, Any]:
    """Return a line of a batch file as JSON values; its ``custom_id`` is the key of the request."""
    body = chat_body(request, models.model_for(request.judge), AcceptedParameters())
    return {"custom_id": request.key, "method": "POST", "url": _URL, "body": body}


#: The code of a request without a reply.
_NO_REPLY = "no_reply"


@dataclass(frozen=True, slots=True)
class BatchResponse:
    """The response to one request; ``seconds`` is not in OpenAI's format, but some tools add it."""

    status_code: int
    body: Any = None
    seconds: Annotated[FiniteFloat, Field(ge=0)] = 0.0


@dataclass(frozen=True, slots=True)
class ReplyLine:
    """One line of a batch's output: the key of the request, and the response or the error."""

    custom_id: Identifier
    response: BatchResponse | None = None
    error: Any = None

    @property
    def outcome(self) -> Outcome:
        """The outcome of the request."""
        if self.response is None or self.error is not None:
            return Failure(_NO_REPLY)
        body, seconds = json.dumps(self.response.body).encode(), self.response.seconds
        found: Reply | NoReply = (
            parse_completion(body)
            if self.response.status_code == HTTPStatus.OK
            else no_reply_from_status(self.response.status_code, {}, body)
        )
        if isinstance(found, Reply):
            return replace(found, seconds=seconds)
        # The same filter would reject it again: no retry.
        if found.fault is EndpointFault.FILTERED:
            return Reply("", Finish.REFUSED, seconds=seconds)
        return Failure(found.fault.value, seconds)


@dataclass(slots=True)
class BatchReplies(Mapping[str, Outcome]):
    """The replies so far, by the keys of their requests; records which of them a method has looked up.

    With ``give_up``, every request without a reply counts as failed, whether it was sent or not; otherwise as
    not yet sent.
    """

    give_up: bool = False
    repeated: int = 0
    _replies: dict[str, Reply] = field(default_factory=dict)
    _failures: dict[str, Failure] = field(default_factory=dict)
    _looked_up: set[str] = field(default_factory=set)

    def add(self, line: ReplyLine) -> None:
        """Add a line; of several replies the first counts, since later rounds were built on it."""
        outcome = line.outcome
        if isinstance(outcome, Failure):
            self._failures[line.custom_id] = outcome
        elif line.custom_id in self._replies:
            self.repeated += 1
        else:
            self._replies[line.custom_id] = outcome

    @property
    def failed(self) -> Collection[str]:
        """The keys of requests with errors only."""
        return self._failures.keys() - self._replies.keys()

    @property
    def unused(self) -> Collection[str]:
        """The keys of replies that no method has looked up."""
        return {*self._replies, *self._failures} - self._looked_up

    def __contains__(self, key: object) -> bool:
        self._looked_up.add(str(key))
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


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The progress of several cases.

    ``requests`` are to be sent next, each once. ``opinions`` are in the order of the cases, None where a
    reply is missing.
    """

    requests: tuple[Request, ...]
    opinions: tuple[Opinion | None, ...]


def batch_progress(
    cases: Iterable[Case], method: str, options: JudgeOptions, outcomes_by_key: Mapping[str, Outcome]
) -> BatchProgress:
    """Run the method for every case from its start, as far as the known outcomes go.

    Raises KeyError for an unknown method.
    """
    requests: dict[str, Request] = {}
    opinions: list[Opinion | None] = []
    for case in cases:
        step = advance(ask(case, method, options), outcomes_by_key)
        opinions.append(step if isinstance(step, Opinion) else None)
        if not isinstance(step, Opinion):
            requests |= {request.key: request for request in step}
    return BatchProgress(tuple(requests.values()), tuple(opinions))
