"""The adaptive reasoning in up to K steps of the model's own (paper 002, section 3.2.3, Figure 5)."""

from __future__ import annotations

import math

from scoring.judges.asking import Rounds, ask_one
from scoring.judges.brief import Brief
from scoring.judges.judgement import Judgement, Method, contradiction, judged, unsure
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Chain
from scoring.values.opinion import Unsure

_REASON = Prompt("adaptive", Chain)


def _run(brief: Brief) -> Rounds[Judgement]:
    most = brief.options.steps

    def check(chain: Chain) -> str | None:
        if len(chain.steps) > most:
            return f"it has more than {most} steps"
        return contradiction(chain.label, chain.score)

    said = yield from ask_one(brief.ask(_REASON, brief.whole, check=check, values={"steps": most}))
    if isinstance(said, Unsure):
        return unsure(said)
    return judged(said.form.label, joint_confidence(said.form), said.form)


def joint_confidence(chain: Chain) -> float:
    """Return C, the product of the steps' confidences (002, equation 1); the overall one is not used."""
    return math.prod(step.confidence for step in chain.steps)


ADAPTIVE = Method(
    name="adaptive",
    run=_run,
    prompts=(_REASON,),
    requests=lambda _: 1,
)
