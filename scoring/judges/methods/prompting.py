"""Methods that ask for a whole evaluation at once: io, CoT, CoT-SC, adaptive, single (papers 002, 004)."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from scoring.judges.forms import ChainReply, EvaluationReply, ReasonedReply, VerdictReply
from scoring.judges.method import (
    Brief,
    Judgement,
    Method,
    NoOpinion,
    Rounds,
    TypedRequest,
    ask_all,
    check_evaluation,
    judgement_of,
    label_of,
    label_score_conflict,
    require_reply,
)
from scoring.judges.prompts import Prompt
from scoring.judges.replies import choice_probability, lower_confidence
from scoring.values.opinion import Label, UnsureReason


def merge_evaluations(evaluations: Sequence[EvaluationReply], confidence: float) -> Judgement:
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
    """An evaluation with its weight in [0, 1].

    ``confidence`` is what it adds to the confidence of all; None: its weight.
    """

    evaluation: EvaluationReply
    weight: float
    confidence: float | None = None

    @property
    def label(self) -> Label:
        """The label that it is for."""
        return label_of(self.evaluation)


def majority_judgement(votes: Sequence[Vote | UnsureReason]) -> Judgement:
    """Return what most votes by weight are for.

    The confidence is what the winners add, over the number of all: one without a usable reply counts as
    not agreeing. Raises NoOpinion where fewer than half gave one, and where two labels have the same
    weight.
    """
    given = [vote for vote in votes if isinstance(vote, Vote)]
    if 2 * len(given) < len(votes) or not given:
        reasons = Counter(vote for vote in votes if isinstance(vote, UnsureReason))
        raise NoOpinion(reasons.most_common(1)[0][0])
    labels = dict.fromkeys(vote.label for vote in given)
    weights = {label: math.fsum(vote.weight for vote in given if vote.label is label) for label in labels}
    (label, weight), *others = sorted(weights.items(), key=lambda pair: -pair[1])
    if others and math.isclose(others[0][1], weight, abs_tol=1e-9):
        raise NoOpinion(UnsureReason.DISAGREEMENT)
    winners = [vote for vote in given if vote.label is label]
    sure = math.fsum(vote.weight if vote.confidence is None else vote.confidence for vote in winners)
    return merge_evaluations([vote.evaluation for vote in winners], sure / len(votes))


_IO_PROMPT = Prompt("io", EvaluationReply)
_FLAGS = ("true", "false")


def _io_run(brief: Brief) -> Rounds[Judgement]:
    said = yield from require_reply(
        brief.typed_request(_IO_PROMPT, brief.all_parts, check=check_evaluation, logprobs=True)
    )
    sure = said.form.confidence
    for dimension in ("consistent", "relevant"):
        sure = lower_confidence(sure, choice_probability(said.reply, dimension, _FLAGS))
    return merge_evaluations([said.form], sure)


IO = Method("io", _io_run, prompts=(_IO_PROMPT,), max_requests=lambda _: 1)

COT_PROMPT = Prompt("cot", ReasonedReply)


def cot_request(
    brief: Brief, sample: int = 0, temperature: float | None = None
) -> TypedRequest[ReasonedReply]:
    """Return the request for one chain of thoughts."""
    return brief.typed_request(
        COT_PROMPT, brief.all_parts, check=check_evaluation, sample=sample, temperature=temperature
    )


def _cot_run(brief: Brief) -> Rounds[Judgement]:
    said = yield from require_reply(cot_request(brief))
    return merge_evaluations([said.form], said.form.confidence)


COT = Method("cot", _cot_run, prompts=(COT_PROMPT,), max_requests=lambda _: 1)


def _cot_sc_run(brief: Brief) -> Rounds[Judgement]:
    options = brief.options
    said = yield from ask_all(
        [cot_request(brief, sample, options.sample_temperature) for sample in range(options.samples)]
    )
    votes = [each if isinstance(each, UnsureReason) else Vote(each.form, 1.0) for each in said]
    return majority_judgement(votes)


COT_SC = Method("cot-sc", _cot_sc_run, prompts=(COT_PROMPT,), max_requests=lambda options: options.samples)

_ADAPTIVE_PROMPT = Prompt("adaptive", ChainReply)


def _adaptive_run(brief: Brief) -> Rounds[Judgement]:
    most = brief.options.steps

    def check(chain: ChainReply) -> str | None:
        if len(chain.steps) > most:
            return f"it has more than {most} steps"
        return label_score_conflict(chain.label, chain.score)

    said = yield from require_reply(
        brief.typed_request(_ADAPTIVE_PROMPT, brief.all_parts, check=check, values={"steps": most})
    )
    chain = said.form
    # C is the product of the steps' confidences (002, equation 1); the overall one is not used.
    return judgement_of(chain.label, math.prod(step.confidence for step in chain.steps), chain)


ADAPTIVE = Method("adaptive", _adaptive_run, prompts=(_ADAPTIVE_PROMPT,), max_requests=lambda _: 1)

_SINGLE_PROMPT = Prompt("single", VerdictReply)


def _single_run(brief: Brief) -> Rounds[Judgement]:
    said = yield from require_reply(
        brief.typed_request(
            _SINGLE_PROMPT,
            brief.all_parts,
            check=lambda reply: label_score_conflict(reply.label, reply.score),
            logprobs=True,
        )
    )
    verdict = said.form
    probable = choice_probability(said.reply, "label", tuple(Label))
    return judgement_of(verdict.label, lower_confidence(verdict.confidence, probable), verdict)


SINGLE = Method("single", _single_run, prompts=(_SINGLE_PROMPT,), max_requests=lambda _: 1)
