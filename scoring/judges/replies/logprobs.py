"""The probability of what a model said in one field, from the log probabilities of its tokens."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from scoring.judges.requests import Reply, Token


def probability(reply: Reply, field: str, choices: Sequence[str]) -> float | None:
    """Return how probable the field's value was among the choices, or None where it cannot be told.

    The first token of the value counts, so the choices must begin differently. Log probabilities of
    other beginnings are left out: they belong to no choice.
    """
    if not (said := re.search(rf'"{re.escape(field)}"\s*:\s*"?', reply.text)):
        return None
    if not (found := _token_at(reply, said.end())):
        return None
    token, before = found
    weights = dict.fromkeys(choices, 0.0)
    for text, logprob in dict([(token.text, token.logprob), *token.others]).items():
        if text[: len(before)] == before and (choice := _begun(text[len(before) :], choices)):
            weights[choice] += math.exp(min(logprob, 0.0))
    value = next((choice for choice in choices if reply.text.startswith(choice, said.end())), None)
    total = math.fsum(weights.values())
    return weights[value] / total if value and total > 0 else None


def lower(stated: float, probable: float | None) -> float:
    """Return the lower of the confidence that a model states and the probability of what it said.

    Many models state .9 whatever they say, and a label after reasoning is always probable: neither alone
    may make an opinion sure.
    """
    return stated if probable is None else min(stated, probable)


def _token_at(reply: Reply, place: int) -> tuple[Token, str] | None:
    """Return the token that holds a place of the reply, and what of it stands before the place."""
    if "".join(token.text for token in reply.logprobs) != reply.text:
        return None
    start = 0
    for token in reply.logprobs:
        if start <= place < start + len(token.text):
            return token, token.text[: place - start]
        start += len(token.text)
    return None


def _begun(text: str, choices: Sequence[str]) -> str | None:
    """Return the choice that a token begins."""
    said = text.strip('" \n')
    return next(
        (choice for choice in choices if said and (choice.startswith(said) or said.startswith(choice))), None
    )
