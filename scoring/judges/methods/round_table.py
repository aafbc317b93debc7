"""The round table: several judges, of one model or of several, weighted by confidence (paper 004, II-B5)."""

from __future__ import annotations

from scoring.judges.asking import Rounds
from scoring.judges.brief import Brief
from scoring.judges.judgement import Judgement, Method
from scoring.judges.methods.discussion import Seat, discuss
from scoring.judges.methods.voting import Vote, most
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Argued
from scoring.values.opinion import Unsure

_JUDGE = Prompt("seat", Argued, also=("others",))


def _run(brief: Brief) -> Rounds[Judgement]:
    held = yield from discuss(brief, _JUDGE, [Seat(judge) for judge in brief.options.seats])
    return most([each if isinstance(each, Unsure) else Vote(each, each.confidence) for each in held])


ROUND_TABLE = Method(
    "round-table", _run, prompts=(_JUDGE,), requests=lambda options: len(options.seats) * options.rounds
)
