"""The sequential decision: refusal, relation, meaning, one after the other (paper 002, section 3.2.2)."""

from __future__ import annotations

from scoring.judges.asking import Rounds, ask_one
from scoring.judges.brief import Brief
from scoring.judges.judgement import Judgement, Method, contradiction, judged
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Comparison, Meaning, Refusal, Relation
from scoring.values.opinion import Label

_REFUSAL = Prompt("refusal", Refusal)
_COMPARISON = Prompt("comparison", Comparison)
_MEANING = Prompt("meaning", Meaning)
_DECIDED = {Relation.EQUIVALENT: Label.TRUE, Relation.INCORRECT: Label.FALSE}


def _run(brief: Brief) -> Rounds[Judgement]:
    refusal = yield from ask_one(brief.ask(_REFUSAL, brief.whole))
    sure = refusal.form.confidence
    if refusal.form.refuses:
        return judged(Label.NOT_GIVEN, sure, refusal.form)
    comparison = yield from ask_one(brief.ask(_COMPARISON, brief.whole, check=_check_comparison))
    sure *= comparison.form.confidence
    if label := _DECIDED.get(comparison.form.relation):
        return judged(label, sure, comparison.form)
    meaning = yield from ask_one(brief.ask(_MEANING, brief.whole, check=_check_meaning))
    return judged(_label_of(meaning.form), sure * meaning.form.confidence, meaning.form)


def _label_of(meaning: Meaning) -> Label:
    return Label.FALSE if meaning.changed else Label.TRUE


def _check_comparison(comparison: Comparison) -> str | None:
    label = _DECIDED.get(comparison.relation)
    return contradiction(label, comparison.score) if label else None


def _check_meaning(meaning: Meaning) -> str | None:
    return contradiction(_label_of(meaning), meaning.score)


SEQUENTIAL = Method("sequential", _run, prompts=(_REFUSAL, _COMPARISON, _MEANING), requests=lambda _: 3)
