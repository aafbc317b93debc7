"""Answer relevance: questions generated from the answer, compared with the one asked (001).

The paper compares embeddings; here a model does, so that a method needs nothing but requests. Relevance
says nothing about truth: a relevant answer has no label by it.
"""

from __future__ import annotations

from statistics import fmean

from scoring.judges.asking import Rounds, ask_one
from scoring.judges.brief import Brief, numbered
from scoring.judges.judgement import Judgement, Method, check_numbers
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Asked, Likenesses
from scoring.judges.texts.fencing import Part
from scoring.values.opinion import Label, Unsure

_ASK_BACK = Prompt("asked", Asked, compares=False)
_COMPARE = Prompt("alike", Likenesses, compares=False)
# Of the mean likeness: at 0.5 the questions generated ask for half of what was asked.
_RELEVANT_FROM = 0.5


def _run(brief: Brief) -> Rounds[Judgement]:
    most = brief.options.questions

    def check(asked: Asked) -> str | None:
        return f"it has more than {most} questions" if len(asked.questions) > most else None

    answer = (Part("answer", brief.answer),)
    asked = yield from ask_one(brief.ask(_ASK_BACK, answer, check=check, values={"questions": most}))
    questions = asked.form.questions

    def check_likenesses(likenesses: Likenesses) -> str | None:
        return check_numbers((each.number for each in likenesses.questions), len(questions))

    parts = (Part("question", brief.question), numbered("questions", questions))
    said = yield from ask_one(brief.ask(_COMPARE, parts, check=check_likenesses))
    # An answer that commits itself to nothing answers no question, whatever can be asked about it.
    value = 0.0 if asked.form.noncommittal else fmean(each.alike for each in said.form.questions)
    if value >= _RELEVANT_FROM:
        return Judgement(None, relevance=value, unsure=Unsure.TRUTH_NOT_JUDGED)
    return Judgement(Label.NOT_GIVEN, said.form.confidence * (1 - value), relevance=value)


RELEVANCE = Method("relevance", _run, prompts=(_ASK_BACK, _COMPARE), requests=lambda _: 2)
