"""The adaptive reasoning in up to K steps of the model's own (paper 002, section 3.2.3, Figure 5)."""

from __future__ import annotations

import math

from scoring.judges.asking import Rounds, ask_one
from scoring.judges.brief import Brief
from scoring.judges.judgement import Judgement, Method, contradiction, judged
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Chain

_REASON = Prompt("adaptive", Chain)


def _run(brief: Brief) -> Rounds[Judgement]:
    most = brief.options.steps

    def check(chain: Chain) -> str | None:
        if len(chain.steps) > most:
            return f"it has more than {most} steps"
        return contradiction(chain.label, chain.score)

    said = yield from ask_one(brief.ask(_REASON, brief.whole, check=check, values={"steps": most}))
    chain = said.form
    # C is the product of the steps' confidences (002, equation 1); the overall one is not used.
    return judged(chain.label, math.prod(step.confidence for step in chain.steps), chain)


ADAPTIVE = Method("adaptive", _run, prompts=(_REASON,), requests=lambda _: 1)
