"""The bodies of chat completions: the request with its parameters, and the response.

A response is read strictly where the reply depends on it, and leniently elsewhere.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from scoring.judges.requests import Finish, Reply, Request, Token
from streams.llm.endpoints.faults import EndpointFault, NoReply

#: How many of the likeliest tokens are asked for in each position: more than the first tokens of labels, and
#: what all endpoints allow.
_TOP_LOGPROBS = 5


class OutputMode(StrEnum):
    """How a JSON reply is requested, strictest first."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    PLAIN = "plain"


_FALLBACK_MODE = {OutputMode.JSON_SCHEMA: OutputMode.JSON_OBJECT, OutputMode.JSON_OBJECT: OutputMode.PLAIN}
_OUTPUT_PARAMETERS = frozenset({"response_format", "json_schema", "json_object"})
_LOGPROB_PARAMETERS = frozenset({"logprobs", "top_logprobs"})
_NEW_LIMIT_NAME = "max_completion_tokens"


@dataclass(frozen=True, slots=True)
class AcceptedParameters:
    """The parameters that an endpoint accepts, as far as is known.

    ``falls_back``: a less strict output mode may be tried. OpenAI's reasoning models accept neither a
    temperature nor log probabilities, and name the limit of tokens ``max_completion_tokens``.
    """

    output: OutputMode = OutputMode.JSON_SCHEMA
    falls_back: bool = True
    logprobs: bool = True
    temperature: bool = True
    seed: bool = True
    newer_limit: bool = False

    def without(self, rejected: frozenset[str]) -> AcceptedParameters | None:
        """Return what to try after a response that rejects these parameters, or None if nothing is left.

        A rejection that names no parameter may be about the output mode.
        """
        is_about_output = self.falls_back and (not rejected or rejected & _OUTPUT_PARAMETERS)
        less = replace(
            self,
            output=_FALLBACK_MODE.get(self.output, self.output) if is_about_output else self.output,
            logprobs=self.logprobs and not rejected & _LOGPROB_PARAMETERS,
            temperature=self.temperature and "temperature" not in rejected,
            seed=self.seed and "seed" not in rejected,
            newer_limit=self.newer_limit or _NEW_LIMIT_NAME in rejected,
        )
        return less if less != self else None


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


#: The names of models go into verdicts; an endpoint may send anything as a name.
_MAX_NAME_CHARACTERS = 200
_MAX_TOKEN_COUNT = 1_000_000_000

_FINISHES = {
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "content_filter": Finish.REFUSED,
    "refusal": Finish.REFUSED,
}


def _or_none(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:
        return handler(value)
    except ValidationError:
        return None


#: A value of an unexpected form counts as missing.
_Lenient = WrapValidator(_or_none)
_Count = Annotated[NonNegativeInt, Field(le=_MAX_TOKEN_COUNT)]
_Byte = Annotated[int, Field(ge=0, le=255)]


class _CompletionModel(BaseModel):
    model_config = ConfigDict(frozen=True, allow_inf_nan=False, protected_namespaces=())


class _TokenLogprob(_CompletionModel):
    token: str
    logprob: float


class _ReplyToken(_TokenLogprob):
    bytes: tuple[_Byte, ...] | None = None
    top_logprobs: tuple[_TokenLogprob, ...] = ()


class _Logprobs(_CompletionModel):
    content: tuple[_ReplyToken, ...] | None = None


class _Message(_CompletionModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(_CompletionModel):
    message: _Message
    finish_reason: Annotated[str | None, _Lenient] = None
    logprobs: Annotated[_Logprobs | None, _Lenient] = None


class _Usage(_CompletionModel):
    prompt_tokens: _Count = 0
    completion_tokens: _Count = 0


class _Completion(_CompletionModel):
    choices: tuple[_Choice, ...] = Field(min_length=1)
    model: Annotated[str | None, _Lenient] = None
    usage: Annotated[_Usage | None, _Lenient] = None


def parse_completion(body: bytes) -> Reply | NoReply:
    """Return the reply in the body of a chat completion; anything else is unreadable."""
    try:
        completion = _Completion.model_validate_json(body)
    except ValidationError:
        return NoReply(EndpointFault.UNREADABLE)
    choice, usage = completion.choices[0], completion.usage or _Usage()
    text = choice.message.content or ""
    reported = (choice.logprobs and choice.logprobs.content) or ()
    return Reply(
        text,
        Finish.REFUSED if choice.message.refusal else _FINISHES.get(choice.finish_reason or "", Finish.STOP),
        "".join(filter(str.isprintable, (completion.model or "")[:_MAX_NAME_CHARACTERS])),
        usage.prompt_tokens,
        usage.completion_tokens,
        logprobs=tuple(_tokens_within(text, tuple(_tokens(reported)))),
    )


def _tokens(reported: Iterable[_ReplyToken]) -> Iterator[Token]:
    """Yield the tokens such that their texts, joined, are what the model wrote.

    A character that several tokens share belongs to the last of them; the others have no text.
    """
    characters = codecs.getincrementaldecoder("utf-8")("replace")
    for token in reported:
        text = characters.decode(token.token.encode() if token.bytes is None else bytes(token.bytes))
        others = (other for other in token.top_logprobs if other.token != token.token)
        yield Token(text, _logprob(token), tuple((other.token, _logprob(other)) for other in others))


def _tokens_within(reply: str, tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens within the reply: llama.cpp removes code fences, but reports their tokens."""
    start = "".join(token.text for token in tokens).find(reply)
    end = start + len(reply)
    position = 0
    for token in tokens if start >= 0 else ():
        inside = token.text[max(0, start - position) : max(0, end - position)]
        position += len(token.text)
        if inside or not token.text:
            yield replace(token, text=inside)


def _logprob(token: _TokenLogprob) -> float:
    return min(token.logprob, 0.0)  # some are above 0 by a rounding error
