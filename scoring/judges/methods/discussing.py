"""Methods in which several judges discuss (papers 002 and 004)."""

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.judges.forms import Argued, Comparison, Meaning, Refusal, Relation
from scoring.judges.method import (
    Ask,
    Brief,
    Judgement,
    Method,
    Rounds,
    Said,
    ask_all,
    ask_one,
    check_evaluation,
    contradiction,
    judged,
    label_of,
    lines,
)
from scoring.judges.methods.prompting import Vote, most
from scoring.judges.prompts import Prompt, text
from scoring.values.opinion import Label, Unsure


@dataclass(frozen=True, slots=True)
class Seat:
    """One judge: the model that it is, and the file that describes its persona, None for none."""

    judge: str
    persona: str | None = None


def discuss(
    brief: Brief, prompt: Prompt[Argued], seats: Sequence[Seat]
) -> Rounds[tuple[Argued | Unsure, ...]]:
    """Return the seats' last evaluations: after the round in which all agree, or the last one allowed.

    A seat without a usable reply is asked again in the next round, and shown to nobody.
    """
    held: tuple[Argued | Unsure, ...] = ()
    for _ in range(brief.options.rounds):
        said = yield from ask_all([_ask(brief, prompt, seats, number, held) for number in range(len(seats))])
        held = tuple(each.form if isinstance(each, Said) else each for each in said)
        if len({each if isinstance(each, Unsure) else label_of(each) for each in held}) == 1:
            break
    return held


def _ask(
    brief: Brief, prompt: Prompt[Argued], seats: Sequence[Seat], number: int, held: Sequence[Argued | Unsure]
) -> Ask[Argued]:
    others = [each for other, each in enumerate(held) if other != number and isinstance(each, Argued)]
    parts = (*brief.whole, lines("evaluations", (each.model_dump(mode="json") for each in others)))
    seat = seats[number]
    return brief.ask(
        prompt,
        parts if others else brief.whole,
        check=check_evaluation,
        values={"persona": text(seat.persona)} if seat.persona else {},
        added=["others"] if others else [],
        judge=seat.judge,
        # Two seats of one model ask the same at first, and may still be given different replies.
        sample=number,
    )


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

_ROUND_TABLE_JUDGE = Prompt("seat", Argued, also=("others",))


def _round_table_run(brief: Brief) -> Rounds[Judgement]:
    held = yield from discuss(brief, _ROUND_TABLE_JUDGE, [Seat(judge) for judge in brief.options.seats])
    return most([each if isinstance(each, Unsure) else Vote(each, each.confidence) for each in held])


ROUND_TABLE = Method(
    "round-table",
    _round_table_run,
    prompts=(_ROUND_TABLE_JUDGE,),
    requests=lambda options: len(options.seats) * options.rounds,
)

_REFUSAL = Prompt("refusal", Refusal)
_COMPARISON = Prompt("comparison", Comparison)
_MEANING = Prompt("meaning", Meaning)
_DECIDED = {Relation.EQUIVALENT: Label.TRUE, Relation.INCORRECT: Label.FALSE}


def _sequential_run(brief: Brief) -> Rounds[Judgement]:
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


SEQUENTIAL = Method(
    "sequential", _sequential_run, prompts=(_REFUSAL, _COMPARISON, _MEANING), requests=lambda _: 3
)
