"""FActScore: atomic facts, each checked by itself against the passages nearest to it (003, section 5.2.4)."""

from __future__ import annotations

from scoring.judges.asking import Ask, NoOpinion, Rounds, ask_each, ask_one
from scoring.judges.brief import Brief
from scoring.judges.judgement import Judgement, Method
from scoring.judges.methods.support import supported
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Statements, Support
from scoring.judges.texts.fencing import Part
from scoring.judges.texts.shortening import best_passages
from scoring.values.opinion import Unsure

_BREAK_DOWN = Prompt("facts", Statements, compares=False)
_CHECK = Prompt("fact", Support, compares=False)


def _run(brief: Brief) -> Rounds[Judgement]:
    taken = yield from ask_one(brief.ask(_BREAK_DOWN, brief.asked))
    facts = taken.form.statements
    if len(facts) > brief.options.statements:
        raise NoOpinion(Unsure.TOO_LONG)
    if not facts:
        return supported(taken.form, ())
    said = yield from ask_each([_ask(brief, fact.statement) for fact in facts])
    return supported(taken.form, [each.form for each in said])


def _ask(brief: Brief, fact: str) -> Ask[Support]:
    options = brief.options
    near = best_passages(brief.passages, fact, options.passages, options.longest)
    passages = (Part(f"passage {number}", text) for number, text in enumerate(near, start=1))
    return brief.ask(_CHECK, (*passages, Part("fact", fact)))


FACTSCORE = Method(
    "factscore", _run, prompts=(_BREAK_DOWN, _CHECK), requests=lambda options: 1 + options.statements
)
