"""Methods that ask for a whole evaluation at once: io, CoT, CoT-SC, adaptive, single (papers 002, 004)."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from scoring.judges.forms import Chain, Evaluation, Reasoned, Verdict
from scoring.judges.method import (
    Ask,
    Brief,
    Judgement,
    Method,
    NoOpinion,
    Rounds,
    ask_all,
    ask_one,
    check_evaluation,
    contradiction,
    judged,
    label_of,
)
from scoring.judges.prompts import Prompt
from scoring.judges.replies import lower, probability
from scoring.values.opinion import Label, Unsure


def agreed(evaluations: Sequence[Evaluation], confidence: float) -> Judgement:
    """Return the judgement of evaluations that have the same label; there is at least one."""
    return Judgement(
        label=label_of(evaluations[0]),
        confidence=confidence,
        score=fmean(each.score for each in evaluations),
        wrong=tuple(wrong for each in evaluations for wrong in each.wrong),
        consistency=fmean(each.consistent for each in evaluations),
        relevance=fmean(each.relevant for each in evaluations),
    )


@dataclass(frozen=True, slots=True)
class Vote:
    """An evaluation with its weight in [0, 1]; ``sure`` is what it adds to the confidence, or None: that."""

    evaluation: Evaluation
    weight: float
    sure: float | None = None

    @property
    def label(self) -> Label:
        """The label that it is for."""
        return label_of(self.evaluation)


def most(votes: Sequence[Vote | Unsure]) -> Judgement:
    """Return what most votes by weight are for.

    The confidence is what the winners add, over the number of all: whoever gave no usable reply counts as
    not agreeing. Raises NoOpinion where fewer than half gave one, and where two labels have the same
    weight.
    """
    given = [vote for vote in votes if isinstance(vote, Vote)]
    if 2 * len(given) < len(votes) or not given:
        reasons = Counter(vote for vote in votes if isinstance(vote, Unsure))
        raise NoOpinion(reasons.most_common(1)[0][0])
    labels = dict.fromkeys(vote.label for vote in given)
    weights = {label: math.fsum(vote.weight for vote in given if vote.label is label) for label in labels}
    (label, weight), *others = sorted(weights.items(), key=lambda pair: -pair[1])
    if others and math.isclose(others[0][1], weight, abs_tol=1e-9):
        raise NoOpinion(Unsure.DISAGREEMENT)
    winners = [vote for vote in given if vote.label is label]
    sure = math.fsum(vote.weight if vote.sure is None else vote.sure for vote in winners)
    return agreed([vote.evaluation for vote in winners], sure / len(votes))


_JUDGE = Prompt("io", Evaluation)
_FLAGS = ("true", "false")


def _run(brief: Brief) -> Rounds[Judgement]:
    said = yield from ask_one(brief.ask(_JUDGE, brief.whole, check=check_evaluation, logprobs=True))
    sure = said.form.confidence
    for dimension in ("consistent", "relevant"):
        sure = lower(sure, probability(said.reply, dimension, _FLAGS))
    return agreed([said.form], sure)


IO = Method("io", _run, prompts=(_JUDGE,), requests=lambda _: 1)

REASON = Prompt("cot", Reasoned)


def ask_to_reason(brief: Brief, sample: int = 0, temperature: float | None = None) -> Ask[Reasoned]:
    """Return the request for one chain of thoughts."""
    return brief.ask(REASON, brief.whole, check=check_evaluation, sample=sample, temperature=temperature)


def _cot_run(brief: Brief) -> Rounds[Judgement]:
    said = yield from ask_one(ask_to_reason(brief))
    return agreed([said.form], said.form.confidence)


COT = Method("cot", _cot_run, prompts=(REASON,), requests=lambda _: 1)


def _cot_sc_run(brief: Brief) -> Rounds[Judgement]:
    options = brief.options
    said = yield from ask_all(
        [ask_to_reason(brief, sample, options.sample_temperature) for sample in range(options.samples)]
    )
    votes = [each if isinstance(each, Unsure) else Vote(each.form, 1.0) for each in said]
    return most(votes)


COT_SC = Method("cot-sc", _cot_sc_run, prompts=(REASON,), requests=lambda options: options.samples)

_REASON = Prompt("adaptive", Chain)


def _adaptive_run(brief: Brief) -> Rounds[Judgement]:
    most = brief.options.steps

    def check(chain: Chain) -> str | None:
        if len(chain.steps) > most:
            return f"it has more than {most} steps"
        return contradiction(chain.label, chain.score)

    said = yield from ask_one(brief.ask(_REASON, brief.whole, check=check, values={"steps": most}))
    chain = said.form
    # C is the product of the steps' confidences (002, equation 1); the overall one is not used.
    return judged(chain.label, math.prod(step.confidence for step in chain.steps), chain)


ADAPTIVE = Method("adaptive", _adaptive_run, prompts=(_REASON,), requests=lambda _: 1)

_SINGLE_JUDGE = Prompt("single", Verdict)


def _single_run(brief: Brief) -> Rounds[Judgement]:
    said = yield from ask_one(brief.ask(_SINGLE_JUDGE, brief.whole, check=_check, logprobs=True))
    verdict = said.form
    probable = probability(said.reply, "label", tuple(Label))
    return judged(verdict.label, lower(verdict.confidence, probable), verdict)


def _check(verdict: Verdict) -> str | None:
    return contradiction(verdict.label, verdict.score)


SINGLE = Method("single", _single_run, prompts=(_SINGLE_JUDGE,), requests=lambda _: 1)
