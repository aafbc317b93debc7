"""Multi-persona self-collaboration: one model in five roles (paper 004, section II-B4)."""

from __future__ import annotations

from scoring.judges.asking import Rounds
from scoring.judges.brief import Brief
from scoring.judges.judgement import Judgement, Method
from scoring.judges.methods.discussion import Seat, discuss
from scoring.judges.methods.voting import Vote, most
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Argued
from scoring.values.opinion import Unsure

_ROLES = (
    "persona_fact_checker",
    "persona_research_analyst",
    "persona_editor",
    "persona_journalist",
    "persona_librarian",
)
_JUDGE = Prompt("persona", Argued, also=("others", *_ROLES))


def _run(brief: Brief) -> Rounds[Judgement]:
    seats = [Seat(brief.options.judges[0], persona) for persona in _ROLES]
    held = yield from discuss(brief, _JUDGE, seats)
    return most([each if isinstance(each, Unsure) else Vote(each, 1.0, each.confidence) for each in held])


PERSONAS = Method("personas", _run, prompts=(_JUDGE,), requests=lambda options: len(_ROLES) * options.rounds)
