"""The body of a chat completion, read strictly where a reply depends on it and leniently elsewhere."""

import codecs
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from scoring.judges.requests import Finish, Reply, Token
from streams.llm.endpoints.faults import EndpointFault, NoReply

T = TypeVar("T")

#: Names of models go into verdicts; an endpoint may write anything there.
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


#: What is of another form than expected is as if it were not there.
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
    """Return the reply in the body of a chat completion; what is none is unreadable."""
    try:
        completion = _Completion.model_validate_json(body)
    except ValidationError:
        return NoReply(EndpointFault.UNREADABLE)
    choice, usage = completion.choices[0], completion.usage or _Usage()
    text = choice.message.content or ""
    placed = (choice.logprobs and choice.logprobs.content) or ()
    return Reply(
        text,
        Finish.REFUSED if choice.message.refusal else _FINISHES.get(choice.finish_reason or "", Finish.STOP),
        "".join(filter(str.isprintable, (completion.model or "")[:_MAX_NAME_CHARACTERS])),
        usage.prompt_tokens,
        usage.completion_tokens,
        logprobs=tuple(_tokens_within(text, tuple(_tokens(placed)))),
    )


def _tokens(placed: Iterable[_ReplyToken]) -> Iterator[Token]:
    """Give the tokens so that their texts, put together, are what the model wrote.

    A character may be spread over several: it counts as the last one's, and the others have no text.
    """
    characters = codecs.getincrementaldecoder("utf-8")("replace")
    for one in placed:
        text = characters.decode(one.token.encode() if one.bytes is None else bytes(one.bytes))
        others = (other for other in one.top_logprobs if other.token != one.token)
        yield Token(text, _logprob(one), tuple((other.token, _logprob(other)) for other in others))


def _tokens_within(reply: str, tokens: Sequence[Token]) -> Iterator[Token]:
    """Give what of the tokens stands in the reply: llama.cpp takes fences away, and tells of their tokens."""
    start = "".join(token.text for token in tokens).find(reply)
    end = start + len(reply)
    place = 0
    for token in tokens if start >= 0 else ():
        inside = token.text[max(0, start - place) : max(0, end - place)]
        place += len(token.text)
        if inside or not token.text:
            yield replace(token, text=inside)


def _logprob(likely: _TokenLogprob) -> float:
    return min(likely.logprob, 0.0)  # some come out a rounding error above
