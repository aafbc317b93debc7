"""The parameters of a chat completion, and how much of them an endpoint takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from scoring.judges.requests import Request

#: So many of the likeliest tokens are asked for in each place: more than labels begin with, and what all
#: endpoints allow.
_TOP_LOGPROBS = 5

#: An endpoint may be renewed, or have been misunderstood: after so long everything is tried anew.
_RELEARN_SECONDS = 3_600.0


class OutputMode(StrEnum):
    """How the form of a reply is asked for, from the strictest on."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    PLAIN = "plain"


_FALLBACK_MODE = {OutputMode.JSON_SCHEMA: OutputMode.JSON_OBJECT, OutputMode.JSON_OBJECT: OutputMode.PLAIN}
_OUTPUT_PARAMETERS = frozenset({"response_format", "json_schema", "json_object"})
_LOGPROB_PARAMETERS = frozenset({"logprobs", "top_logprobs"})
_NEW_LIMIT_NAME = "max_completion_tokens"


@dataclass(frozen=True, slots=True)
class AcceptedParameters:
    """What an endpoint takes, as far as it is known.

    ``falls_back`` says whether a reply's form may be asked for in a weaker way. OpenAI's reasoning models
    take neither a temperature nor log probabilities, and call the limit of tokens ``max_completion_tokens``.
    """

    output: OutputMode = OutputMode.JSON_SCHEMA
    falls_back: bool = True
    logprobs: bool = True
    temperature: bool = True
    seed: bool = True
    newer_limit: bool = False

    def without(self, rejected: frozenset[str]) -> AcceptedParameters | None:
        """Return what to try after a refusal that names these parameters; None: nothing else can be tried.

        A refusal that names none may be about the form of the reply.
        """
        is_of_output = self.falls_back and (not rejected or rejected & _OUTPUT_PARAMETERS)
        less = replace(
            self,
            output=_FALLBACK_MODE.get(self.output, self.output) if is_of_output else self.output,
            logprobs=self.logprobs and not rejected & _LOGPROB_PARAMETERS,
            temperature=self.temperature and "temperature" not in rejected,
            seed=self.seed and "seed" not in rejected,
            newer_limit=self.newer_limit or _NEW_LIMIT_NAME in rejected,
        )
        return less if less != self else None


class ParameterLearner:
    """What an endpoint was found to take, for an hour after it was found.

    Args:
        everything: what is tried first.
        on_change: called with what is found to be taken instead.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        initial: AcceptedParameters,
        on_change: Callable[[AcceptedParameters], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._everything = self._found = initial
        self._on_change = on_change
        self._clock = clock
        self._since = clock()

    @property
    def accepted(self) -> AcceptedParameters:
        """What to send a request with."""
        if self._clock() - self._since > _RELEARN_SECONDS:
            self._found, self._since = self._everything, self._clock()
        return self._found

    def note_success(self, accepted: AcceptedParameters) -> None:
        """Remember that the endpoint has replied to a request of this kind."""
        if accepted != self._found:
            self._found, self._since = accepted, self._clock()
            self._on_change(accepted)


def chat_body(request: Request, model: str, accepted: AcceptedParameters) -> dict[str, Any]:
    """Return the body of a chat completion, as JSON values."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        _NEW_LIMIT_NAME if accepted.newer_limit else "max_tokens": request.max_tokens,
    }
    if accepted.temperature:
        body["temperature"] = request.temperature
    if accepted.seed and request.temperature > 0:
        body["seed"] = request.sample
    if accepted.logprobs and request.logprobs:
        body |= {"logprobs": True, "top_logprobs": _TOP_LOGPROBS}
    if accepted.output is OutputMode.JSON_SCHEMA:
        schema = {"name": request.schema.name, "strict": True, "schema": request.schema.content}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif accepted.output is OutputMode.JSON_OBJECT:
        body["response_format"] = {"type": "json_object"}
    return body
