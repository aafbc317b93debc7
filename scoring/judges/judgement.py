"""The judgement of a method, before it becomes an opinion: as the model said it, in the texts that it saw."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from scoring.judges.asking import Rounds
from scoring.judges.brief import Brief
from scoring.judges.options import JudgeOptions
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Evaluation, Scored, Wrong
from scoring.values.opinion import Label, Mistake, Unsure
from scoring.values.types import HIGHEST, LOWEST

# A reply that says TRUE with a score below the middle, or FALSE with nearly the highest, was not thought out.
_TRUE_FROM, FALSE_TO = 3.0, 4.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """A label with what belongs to it, or the reason why there is none.

    ``mistakes`` are kinds that no words of the answer show.
    """

    label: Label | None
    confidence: float = 0.0
    score: float | None = None
    wrong: tuple[Wrong, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    consistency: float | None = None
    relevance: float | None = None
    unsure: Unsure | None = None


#: A method: asks its rounds on a brief, and judges; may raise NoOpinion.
Run: TypeAlias = Callable[[Brief], Rounds[Judgement]]


@dataclass(frozen=True, slots=True)
class Method:
    """A method under its name in the settings.

    ``requests`` is the most requests that it makes with given options, repairs not counted: each may be
    repaired once. What its confidence means stands in this folder's README.
    """

    name: str
    run: Run
    prompts: tuple[Prompt[Any], ...]
    requests: Callable[[JudgeOptions], int]


def label_of(evaluation: Evaluation) -> Label:
    """Return the label of the two dimensions of paper 004.

    What is not consistent is untrue. What is consistent but does not address the question is what
    paper 002, section 4, calls NOT GIVEN: declined or irrelevant.
    """
    if not evaluation.consistent:
        return Label.FALSE
    return Label.TRUE if evaluation.relevant else Label.NOT_GIVEN


def contradiction(label: Label, score: float) -> str | None:
    """Say that a label and a score do not go together, in words for the repair, or None."""
    if (label is Label.TRUE and score < _TRUE_FROM) or (label is Label.FALSE and score > FALSE_TO):
        return f"the decision {label} and the score {score:g} contradict each other"
    return None


def check_evaluation(evaluation: Evaluation) -> str | None:
    """Say what in an evaluation contradicts itself, or None."""
    return contradiction(label_of(evaluation), evaluation.score)


def judged(label: Label, confidence: float, said: Scored) -> Judgement:
    """Return the judgement of a reply that has a score."""
    return Judgement(label, confidence, said.score, said.wrong)


def check_numbers(given: Iterable[int], expected: int) -> str | None:
    """Say that a reply does not give each of the numbers from 1 on once, or None."""
    if sorted(given) == list(range(1, expected + 1)):
        return None
    return f"it does not give each number from 1 to {expected} once"


def scaled(share: float) -> float:
    """Return a share in [0, 1] on the scale of scores."""
    return LOWEST + (HIGHEST - LOWEST) * share
