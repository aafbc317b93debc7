"""The sequential decision: refusal, relation, meaning, one after the other (paper 002, section 3.2.2)."""

from __future__ import annotations

from scoring.judges.asking import Rounds, ask_one
from scoring.judges.brief import Brief
from scoring.judges.judgement import Judgement, Method, contradiction, judged, unsure
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Comparison, Meaning, Refusal, Relation
from scoring.values.opinion import Label, Unsure

_REFUSAL = Prompt("refusal", Refusal)
_COMPARISON = Prompt("comparison", Comparison)
_MEANING = Prompt("meaning", Meaning)
_DECIDED = {Relation.EQUIVALENT: Label.TRUE, Relation.INCORRECT: Label.FALSE}


def _run(brief: Brief) -> Rounds[Judgement]:
    refusal = yield from ask_one(brief.ask(_REFUSAL, brief.whole))
    if isinstance(refusal, Unsure):
        return unsure(refusal)
    if refusal.form.refuses:
        return judged(Label.NOT_GIVEN, refusal.form.confidence, refusal.form)
    return (yield from _compare(brief, refusal.form.confidence))


def _compare(brief: Brief, sure: float) -> Rounds[Judgement]:
    comparison = yield from ask_one(brief.ask(_COMPARISON, brief.whole, check=_check_comparison))
    if isinstance(comparison, Unsure):
        return unsure(comparison)
    sure *= comparison.form.confidence
    if label := _DECIDED.get(comparison.form.relation):
        return judged(label, sure, comparison.form)
    return (yield from _weigh(brief, sure))


def _weigh(brief: Brief, sure: float) -> Rounds[Judgement]:
    meaning = yield from ask_one(brief.ask(_MEANING, brief.whole, check=_check_meaning))
    if isinstance(meaning, Unsure):
        return unsure(meaning)
    return judged(_label_of(meaning.form), sure * meaning.form.confidence, meaning.form)


def _label_of(meaning: Meaning) -> Label:
    return Label.FALSE if meaning.changed else Label.TRUE


def _check_comparison(comparison: Comparison) -> str | None:
    label = _DECIDED.get(comparison.relation)
    return contradiction(label, comparison.score) if label else None


def _check_meaning(meaning: Meaning) -> str | None:
    return contradiction(_label_of(meaning), meaning.score)


SEQUENTIAL = Method(
    name="sequential",
    run=_run,
    prompts=(_REFUSAL, _COMPARISON, _MEANING),
    requests=lambda _: 3,
)
