"""Chain of thought: notes on the units of the reference, then the decision (paper 004, section II-B2)."""

from __future__ import annotations

from scoring.judges.asking import Ask, Rounds, ask_one
from scoring.judges.brief import Brief
from scoring.judges.judgement import Judgement, Method, check_evaluation
from scoring.judges.methods.evaluations import agreed
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Reasoned

REASON = Prompt("cot", Reasoned)


def ask_to_reason(brief: Brief, sample: int = 0, temperature: float | None = None) -> Ask[Reasoned]:
    """Return the request for one chain of thoughts."""
    return brief.ask(REASON, brief.whole, check=check_evaluation, sample=sample, temperature=temperature)


def _run(brief: Brief) -> Rounds[Judgement]:
    said = yield from ask_one(ask_to_reason(brief))
    return agreed([said.form], said.form.confidence)


COT = Method("cot", _run, prompts=(REASON,), requests=lambda _: 1)
