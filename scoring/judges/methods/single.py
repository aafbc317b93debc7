"""The single prompt: the label at once (paper 002, section 3.2.1, Figure 3)."""

from __future__ import annotations

from scoring.judges.asking import Rounds, ask_one
from scoring.judges.brief import Brief
from scoring.judges.judgement import Judgement, Method, contradiction, judged
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Verdict
from scoring.judges.replies.logprobs import lower, probability
from scoring.values.opinion import Label

_JUDGE = Prompt("single", Verdict)


def _run(brief: Brief) -> Rounds[Judgement]:
    said = yield from ask_one(brief.ask(_JUDGE, brief.whole, check=_check, logprobs=True))
    verdict = said.form
    probable = probability(said.reply, "label", tuple(Label))
    return judged(verdict.label, lower(verdict.confidence, probable), verdict)


def _check(verdict: Verdict) -> str | None:
    return contradiction(verdict.label, verdict.score)


SINGLE = Method("single", _run, prompts=(_JUDGE,), requests=lambda _: 1)
