"""Methods in which several judges discuss (papers 002 and 004)."""

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.judges.forms import ArguedReply, ComparisonReply, MeaningReply, RefusalReply, Relation
from scoring.judges.method import (
    Brief,
    Judgement,
    Method,
    Rounds,
    TypedReply,
    TypedRequest,
    ask_all,
    check_evaluation,
    jsonl_part,
    judgement_of,
    label_of,
    label_score_conflict,
    require_reply,
)
from scoring.judges.methods.prompting import Vote, majority_judgement
from scoring.judges.prompts import Prompt, text
from scoring.values.opinion import Label, UnsureReason


@dataclass(frozen=True, slots=True)
class Seat:
    """One judge: the model that it is, and the file that describes its persona, None for none."""

    judge: str
    persona: str | None = None


def discuss(
    brief: Brief, prompt: Prompt[ArguedReply], seats: Sequence[Seat]
) -> Rounds[tuple[ArguedReply | UnsureReason, ...]]:
    """Return the seats' last evaluations: after the round in which all agree, or the last one allowed.

    A seat without a usable reply is asked again in the next round, and not shown to the others.
    """
    held: tuple[ArguedReply | UnsureReason, ...] = ()
    for _ in range(brief.options.rounds):
        said = yield from ask_all(
            [_seat_request(brief, prompt, seats, number, held) for number in range(len(seats))]
        )
        held = tuple(each.form if isinstance(each, TypedReply) else each for each in said)
        if len({each if isinstance(each, UnsureReason) else label_of(each) for each in held}) == 1:
            break
    return held


def _seat_request(
    brief: Brief,
    prompt: Prompt[ArguedReply],
    seats: Sequence[Seat],
    number: int,
    previous: Sequence[ArguedReply | UnsureReason],
) -> TypedRequest[ArguedReply]:
    others = [
        each for other, each in enumerate(previous) if other != number and isinstance(each, ArguedReply)
    ]
    parts = (*brief.all_parts, jsonl_part("evaluations", (each.model_dump(mode="json") for each in others)))
    seat = seats[number]
    return brief.typed_request(
        prompt,
        parts if others else brief.all_parts,
        check=check_evaluation,
        values={"persona": text(seat.persona)} if seat.persona else {},
        extras=["others"] if others else [],
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
_JUDGE = Prompt("persona", ArguedReply, extras=("others", *_ROLES))


def _personas_run(brief: Brief) -> Rounds[Judgement]:
    seats = [Seat(brief.options.judges[0], persona) for persona in _ROLES]
    held = yield from discuss(brief, _JUDGE, seats)
    return majority_judgement(
        [each if isinstance(each, UnsureReason) else Vote(each, 1.0, each.confidence) for each in held]
    )


PERSONAS = Method(
    "personas", _personas_run, prompts=(_JUDGE,), max_requests=lambda options: len(_ROLES) * options.rounds
)

_ROUND_TABLE_JUDGE = Prompt("seat", ArguedReply, extras=("others",))


def _round_table_run(brief: Brief) -> Rounds[Judgement]:
    held = yield from discuss(brief, _ROUND_TABLE_JUDGE, [Seat(judge) for judge in brief.options.seats])
    return majority_judgement(
        [each if isinstance(each, UnsureReason) else Vote(each, each.confidence) for each in held]
    )


ROUND_TABLE = Method(
    "round-table",
    _round_table_run,
    prompts=(_ROUND_TABLE_JUDGE,),
    max_requests=lambda options: len(options.seats) * options.rounds,
)

_REFUSAL = Prompt("refusal", RefusalReply)
_COMPARISON = Prompt("comparison", ComparisonReply)
_MEANING = Prompt("meaning", MeaningReply)
_LABEL_OF_RELATION = {Relation.EQUIVALENT: Label.TRUE, Relation.INCORRECT: Label.FALSE}


def _sequential_run(brief: Brief) -> Rounds[Judgement]:
    refusal = yield from require_reply(brief.typed_request(_REFUSAL, brief.all_parts))
    sure = refusal.form.confidence
    if refusal.form.refuses:
        return judgement_of(Label.NOT_GIVEN, sure, refusal.form)
    comparison = yield from require_reply(
        brief.typed_request(_COMPARISON, brief.all_parts, check=_check_comparison)
    )
    sure *= comparison.form.confidence
    if label := _LABEL_OF_RELATION.get(comparison.form.relation):
        return judgement_of(label, sure, comparison.form)
    meaning = yield from require_reply(brief.typed_request(_MEANING, brief.all_parts, check=_check_meaning))
    return judgement_of(_meaning_label(meaning.form), sure * meaning.form.confidence, meaning.form)


def _meaning_label(meaning: MeaningReply) -> Label:
    return Label.FALSE if meaning.changed else Label.TRUE


def _check_comparison(comparison: ComparisonReply) -> str | None:
    label = _LABEL_OF_RELATION.get(comparison.relation)
    return label_score_conflict(label, comparison.score) if label else None


def _check_meaning(meaning: MeaningReply) -> str | None:
    return label_score_conflict(_meaning_label(meaning), meaning.score)


SEQUENTIAL = Method(
    "sequential", _sequential_run, prompts=(_REFUSAL, _COMPARISON, _MEANING), max_requests=lambda _: 3
)
