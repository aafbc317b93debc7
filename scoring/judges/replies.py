"""Reads replies: the JSON in a text, and confidence from log probabilities."""

import json
import math
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from scoring.judges.forms import ReplyForm
from scoring.judges.requests import Reply, Token
from scoring.values.exchange import is_encodable

F = TypeVar("F", bound=ReplyForm)

# Far above what any limit of tokens lets through; a parser need not see more.
_MAX_CHARACTERS = 200_000
_MAX_PROBLEMS = 5
# Models that reason may leave that in front, where the server does not take it out.
_REASONING = re.compile(r"\A<think>.*?</think>\s*", re.DOTALL)
# Models without structured output put a fence around it, even if instructed otherwise.
_FENCE = re.compile(r"\A```(?:json)?[ \t]*\n(.*)\n```\Z", re.DOTALL)


class MalformedReply(ValueError):
    """A reply is not of its form; the message says what is wrong in words of ours alone."""


def parse_reply(text: str, form: type[F]) -> F:
    """Return the reply.

    Raises:
        Malformed: It is no JSON object, has another field or lacks one, or a value of another type.
    """
    text = _REASONING.sub("", text.strip())
    text = _FENCE.sub(r"\1", text)
    _check_json(text)
    try:
        return form.model_validate_json(text)
    except ValidationError as error:
        raise MalformedReply(_problem(error, form)) from None


def _check_json(text: str) -> None:
    """Refuse what one parser reads otherwise than another: a field given twice, half a character, NaN."""
    if len(text) > _MAX_CHARACTERS or not is_encodable(text):
        raise MalformedReply("it is not JSON")
    try:
        # Half a character may be written as an escape too.
        whole = is_encodable(json.dumps(json.loads(text, object_pairs_hook=_unique), ensure_ascii=False))
    except (ValueError, RecursionError):
        raise MalformedReply("it is not one JSON object, with each field once") from None
    if not whole:
        raise MalformedReply("it is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(fields := dict(pairs)) != len(pairs):
        raise ValueError
    return fields


def _problem(error: ValidationError, form: type[ReplyForm]) -> str:
    """Name fields and what is wrong with them; never a word of the reply, which may quote hostile data."""
    known = _field_names(form.model_json_schema())
    found = (
        (
            ".".join(str(part) if part in known or isinstance(part, int) else "?" for part in each["loc"]),
            each["type"],
        )
        for each in error.errors(include_input=False, include_url=False, include_context=False)
    )
    return "; ".join(f"{place or 'the reply'}: {kind}" for place, kind in list(found)[:_MAX_PROBLEMS])


def _field_names(schema: object) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(_field_names, schema))
    if not isinstance(schema, dict):
        return set()
    own = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
    return own.union(*map(_field_names, schema.values()))


def choice_probability(reply: Reply, field: str, choices: Sequence[str]) -> float | None:
    """Return how probable the field's value was among the choices, or None if it is unknown.

    The first token of the value counts, so the choices must begin differently. Log probabilities of
    other beginnings are left out: they belong to no choice.
    """
    if not (said := re.search(rf'"{re.escape(field)}"\s*:\s*"?', reply.text)):
        return None
    if not (found := _token_at(reply, said.end())):
        return None
    token, before = found
    weights = dict.fromkeys(choices, 0.0)
    for text, logprob in dict([(token.text, token.logprob), *token.alternatives]).items():
        if text[: len(before)] == before and (choice := _matching_choice(text[len(before) :], choices)):
            weights[choice] += math.exp(min(logprob, 0.0))
    value = next((choice for choice in choices if reply.text.startswith(choice, said.end())), None)
    total = math.fsum(weights.values())
    return weights[value] / total if value and total > 0 else None


def lower_confidence(stated: float, probability: float | None) -> float:
    """Return the lower of the confidence that a model states and the probability of what it said.

    Many models state .9 whatever they say, and a label after reasoning is always probable: neither alone
    may make an opinion sure.
    """
    return stated if probability is None else min(stated, probability)


def _token_at(reply: Reply, offset: int) -> tuple[Token, str] | None:
    """Return the token at an offset of the reply, and the part of it before the offset."""
    if "".join(token.text for token in reply.logprobs) != reply.text:
        return None
    start = 0
    for token in reply.logprobs:
        if start <= offset < start + len(token.text):
            return token, token.text[: offset - start]
        start += len(token.text)
    return None


def _matching_choice(text: str, choices: Sequence[str]) -> str | None:
    """Return the choice that a token begins."""
    said = text.strip('" \n')
    return next(
        (choice for choice in choices if said and (choice.startswith(said) or said.startswith(choice))), None
    )
