"""Faithfulness: the share of the answer's statements that the reference supports (001, "Faithfulness")."""

from __future__ import annotations

from scoring.judges.asking import NoOpinion, Rounds, ask_one
from scoring.judges.brief import Brief, numbered
from scoring.judges.judgement import Judgement, Method, check_numbers
from scoring.judges.methods.support import supported
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Statements, Supports
from scoring.values.opinion import Unsure

_TAKE_APART = Prompt("statements", Statements, compares=False)
_SUPPORT = Prompt("supported", Supports)


def _run(brief: Brief) -> Rounds[Judgement]:
    taken = yield from ask_one(brief.ask(_TAKE_APART, brief.asked))
    statements = taken.form.statements
    if len(statements) > brief.options.statements:
        raise NoOpinion(Unsure.TOO_LONG)
    if not statements:
        return supported(taken.form, ())

    def check(supports: Supports) -> str | None:
        return check_numbers((each.number for each in supports.statements), len(statements))

    listed = numbered("statements", (each.statement for each in statements))
    said = yield from ask_one(brief.ask(_SUPPORT, (*brief.reference, brief.asked[0], listed), check=check))
    in_order = sorted(said.form.statements, key=lambda each: each.number)
    return supported(taken.form, in_order)


FAITHFULNESS = Method("faithfulness", _run, prompts=(_TAKE_APART, _SUPPORT), requests=lambda _: 2)
