"""Self-consistency: k chains of thought, and what most of them say (paper 004, section II-B3)."""

from __future__ import annotations

from scoring.judges.asking import Rounds, ask_all
from scoring.judges.brief import Brief
from scoring.judges.judgement import Judgement, Method
from scoring.judges.methods.cot import REASON, ask_to_reason
from scoring.judges.methods.voting import Vote, most
from scoring.values.opinion import Unsure


def _run(brief: Brief) -> Rounds[Judgement]:
    options = brief.options
    said = yield from ask_all(
        [ask_to_reason(brief, sample, options.sample_temperature) for sample in range(options.samples)]
    )
    votes = [each if isinstance(each, Unsure) else Vote(each.form, 1.0) for each in said]
    return most(votes)


COT_SC = Method("cot-sc", _run, prompts=(REASON,), requests=lambda options: options.samples)
