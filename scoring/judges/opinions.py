"""The way from a case to an opinion: prepared, asked by a method, its words found in the answer again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from scoring.judges.asking import NoOpinion, Rounds
from scoring.judges.case import Case
from scoring.judges.judgement import Judgement, Method
from scoring.judges.methods import METHODS
from scoring.judges.options import JudgeOptions
from scoring.judges.preparing import Prepared, prepare
from scoring.judges.prompts import version_of
from scoring.judges.replies.forms import Wrong
from scoring.judges.requests import Asking, Outcome, Reply
from scoring.judges.texts.edited import Edited
from scoring.judges.texts.finding import find
from scoring.values.opinion import Mistake, Opinion, Unsure, Usage
from scoring.values.types import Evidence


def ask(case: Case, method: str, options: JudgeOptions) -> Asking:
    """Ask for an opinion on a case: yields rounds of requests, takes their outcomes, returns the opinion.

    Whatever comes back, it ends after a number of rounds that the options bound, without an exception.
    Raises KeyError at once where there is no such method.
    """
    return _asking(METHODS[method], case, options)


def prompt_version(method: str) -> str:
    """Return the version of a method's prompts: a hash of their content. Raises KeyError for no method."""
    return version_of(METHODS[method].prompts)


def _asking(method: Method, case: Case, options: JudgeOptions) -> Asking:
    prepared = prepare(case, options)
    log = _Log()
    if isinstance(prepared, Unsure):
        return _opinion(method, options, Judgement(None, unsure=prepared), log, None)
    try:
        judgement = yield from _logged(method.run(prepared.brief), log)
    except NoOpinion as nothing:
        judgement = Judgement(None, unsure=nothing.reason)
    return _opinion(method, options, judgement, log, prepared)


@dataclass(slots=True)
class _Log:
    rounds: list[tuple[Outcome, ...]] = field(default_factory=list)

    @property
    def outcomes(self) -> list[Outcome]:
        return [outcome for outcomes in self.rounds for outcome in outcomes]

    def usage(self) -> Usage:
        replies = [outcome for outcome in self.outcomes if isinstance(outcome, Reply)]
        return Usage(
            requests=len(self.outcomes),
            tokens_in=sum(reply.tokens_in for reply in replies),
            tokens_out=sum(reply.tokens_out for reply in replies),
            seconds=sum(max(outcome.seconds for outcome in outcomes) for outcomes in self.rounds),
        )

    def models(self) -> tuple[str, ...]:
        named = (each.model for each in self.outcomes if isinstance(each, Reply) and each.model)
        return tuple(dict.fromkeys(named))


def _logged(rounds: Rounds[Judgement], log: _Log) -> Rounds[Judgement]:
    try:
        requests = next(rounds)
        while True:
            outcomes = yield requests
            log.rounds.append(outcomes)
            requests = rounds.send(outcomes)
    except StopIteration as stop:
        judgement: Judgement = stop.value
        return judgement


def _opinion(
    method: Method, options: JudgeOptions, judgement: Judgement, log: _Log, prepared: Prepared | None
) -> Opinion:
    wrong = _evidence(judgement.wrong, prepared.answer) if prepared else ()
    kinds = {*judgement.mistakes, *(each.kind for each in judgement.wrong)}
    return Opinion(
        method=method.name,
        models=log.models() or options.judges,
        prompt_version=version_of(method.prompts),
        label=judgement.label,
        confidence=judgement.confidence,
        score=judgement.score,
        consistency=judgement.consistency,
        relevance=judgement.relevance,
        wrong=wrong,
        mistakes=tuple(kind for kind in Mistake if kind in kinds),
        unsure=judgement.unsure,
        shortened=prepared is not None and prepared.brief.shortened,
        usage=log.usage(),
    )


def _evidence(wrong: Iterable[Wrong], answer: Edited) -> tuple[Evidence, ...]:
    """Return the words that stand in the answer, by their place in what the chatbot wrote."""
    original = answer.original
    found = set()
    for each in wrong:
        if span := find(each.words, answer.text):
            start, end = answer.original_span(*span)
            found.add((start, end, each.kind.value))
    return tuple(Evidence(kind, original[start:end], start, end) for start, end, kind in sorted(found))
