"""The discussion of several judges: each evaluates, sees the others' evaluations, and evaluates again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.judges.asking import Ask, Rounds, Said, ask_all
from scoring.judges.brief import Brief, lines
from scoring.judges.judgement import check_evaluation, label_of
from scoring.judges.prompts import Prompt, text
from scoring.judges.replies.forms import Argued
from scoring.values.opinion import Unsure


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
