"""All figures of several judges on the same answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scoring.evaluation.cases import Case
from scoring.evaluation.opinions.cascade import CurvePoint, curve
from scoring.evaluation.opinions.costs import Costs, costs
from scoring.evaluation.opinions.deciding import SendingRow, by_both, by_opinion, sending_rows
from scoring.evaluation.opinions.dimensions import Dimensions, dimensions
from scoring.evaluation.opinions.flags import FlagRow, flag_rows
from scoring.evaluation.opinions.judged import Judged
from scoring.evaluation.opinions.labels import LabelTable, label_table
from scoring.evaluation.opinions.ranking import Rankings, rankings
from scoring.evaluation.opinions.simulation import Flipping, Simulated, as_they_are, simulate
from scoring.values.opinion import Opinion


@dataclass(frozen=True, slots=True)
class Simulation:
    """Which weaker models to simulate, and the seed of chance."""

    flippings: tuple[Flipping, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class JudgeRun:
    """What the opinions of one judge came to; ``answers`` have one.

    ``methods``, ``models`` and ``prompt_versions`` are those that the opinions name. ``sending`` is by checks
    and opinions together, ``sending_alone`` by opinions alone; ``simulated`` begins with the opinions as they
    are, and is empty where nothing is simulated.
    """

    name: str
    answers: int
    methods: tuple[str, ...]
    models: tuple[str, ...]
    prompt_versions: tuple[str, ...]
    labels: LabelTable
    flags: tuple[FlagRow, ...]
    dimensions: Dimensions
    costs: Costs
    rankings: Rankings
    sending: tuple[SendingRow, ...]
    sending_alone: tuple[SendingRow, ...]
    curve: tuple[CurvePoint, ...]
    simulated: tuple[Simulated, ...]


def judge_runs(
    judges: Mapping[str, Sequence[tuple[Case, Opinion]]], tau: float, simulation: Simulation
) -> tuple[JudgeRun, ...]:
    """Evaluate the opinions of each judge, by its name; an answer without an opinion is not among them.

    ``tau`` is the confidence from which opinions decide, where only one is shown.
    """
    return tuple(
        _run(name, [Judged(*each) for each in pairs], tau, simulation) for name, pairs in judges.items()
    )


def _run(name: str, judged: Sequence[Judged], tau: float, simulation: Simulation) -> JudgeRun:
    opinions = [each.opinion for each in judged]
    return JudgeRun(
        name=name,
        answers=len(judged),
        methods=tuple(sorted({each.method for each in opinions})),
        models=tuple(sorted({model for each in opinions for model in each.models})),
        prompt_versions=tuple(sorted({each.prompt_version for each in opinions})),
        labels=label_table(judged),
        flags=flag_rows(judged),
        dimensions=dimensions(judged),
        costs=costs(opinions),
        rankings=rankings(judged),
        sending=sending_rows(judged, by_both),
        sending_alone=sending_rows(judged, by_opinion),
        curve=curve(judged, tau),
        simulated=_simulated(judged, tau, simulation),
    )


def _simulated(judged: Sequence[Judged], tau: float, simulation: Simulation) -> tuple[Simulated, ...]:
    if not simulation.flippings:
        return ()
    weaker = (simulate(judged, each, tau, simulation.seed) for each in simulation.flippings)
    return (as_they_are(judged, tau), *weaker)
