"""Input-output prompting: the two dimensions at once (paper 004, section II-B1 and Table I)."""

from __future__ import annotations

from scoring.judges.asking import Rounds, ask_one
from scoring.judges.brief import Brief
from scoring.judges.judgement import Judgement, Method, check_evaluation
from scoring.judges.methods.evaluations import agreed
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Evaluation
from scoring.judges.replies.logprobs import lower, probability

_JUDGE = Prompt("io", Evaluation)
_FLAGS = ("true", "false")


def _run(brief: Brief) -> Rounds[Judgement]:
    said = yield from ask_one(brief.ask(_JUDGE, brief.whole, check=check_evaluation, logprobs=True))
    sure = said.form.confidence
    for dimension in ("consistent", "relevant"):
        sure = lower(sure, probability(said.reply, dimension, _FLAGS))
    return agreed([said.form], sure)


IO = Method("io", _run, prompts=(_JUDGE,), requests=lambda _: 1)
