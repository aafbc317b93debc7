"""All tables of one evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scoring.evaluation.cases import EvaluationCase, groups, language_groups
from scoring.evaluation.comparison import DecisionTable, decision_table
from scoring.evaluation.correlation import (
    Agreement,
    Correlation,
    Deviation,
    FeatureTable,
    Gain,
    agreement,
    correlation,
    deviation,
    feature_table,
    gain,
)
from scoring.evaluation.measures import RunSummary, summarize
from scoring.evaluation.message_types import TypeTable, type_table
from scoring.evaluation.routing import (
    CheckTable,
    Misrouted,
    Routing,
    SendingTable,
    check_table,
    misrouted,
    routing,
    sending_table,
)
from scoring.evaluation.sweep import SweepPoint, sweep


@dataclass(frozen=True, slots=True)
class RunReport:
    """The results of one variant: Tables IV and V, the decisions, each feature and each check alone.

    The first row of each of ``features`` is the score itself. ``misrouted`` are the answers that were routed
    wrongly. ``sweep`` is what other thresholds for sending would have meant.
    """

    name: str
    summary: RunSummary
    correlations: tuple[Correlation, ...]
    deviations: tuple[Deviation, ...]
    routings: tuple[Routing, ...]
    features: tuple[FeatureTable, ...]
    sendings: tuple[SendingTable, ...]
    checks: tuple[CheckTable, ...]
    misrouted: tuple[Misrouted, ...]
    sweep: tuple[SweepPoint, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything about one set of answers; the first table of each kind is about all of them.

    ``gains`` and ``decisions`` compare the second run with the first, where there are two.
    """

    answers: int
    rated: int
    labelled: int
    agreement: Agreement | None
    message_types: tuple[TypeTable, ...]
    runs: tuple[RunReport, ...]
    gains: tuple[Gain, ...]
    decisions: tuple[DecisionTable, ...]


def report(runs: Mapping[str, Sequence[EvaluationCase]]) -> Report:
    """Evaluate the same answers, scored by one variant or several, in the same order.

    Message types and ratings are taken from the first run: they do not depend on the variant.
    """
    first = next(iter(runs.values()))
    compared = [
        (one, other, group) for one, other in pairwise(runs.values()) for group in language_groups(one)
    ]
    return Report(
        answers=len(first),
        rated=sum(case.rating is not None for case in first),
        labelled=sum(case.labelled is not None for case in first),
        agreement=agreement(first),
        message_types=tuple(type_table(first, group) for group in language_groups(first)),
        runs=tuple(_run_report(name, cases) for name, cases in runs.items()),
        gains=tuple(gain(*each) for each in compared),
        decisions=tuple(decision_table(*each) for each in compared),
    )


def _run_report(name: str, cases: Sequence[EvaluationCase]) -> RunReport:
    every = tuple(groups(cases))
    features = tuple(feature_table(cases, group) for group in language_groups(cases))
    sendings = tuple(sending_table(cases, group) for group in every)
    return RunReport(
        name=name,
        summary=summarize(cases, sendings[0].sending, features[0].rows),
        correlations=tuple(correlation(cases, group) for group in every),
        deviations=tuple(deviation(cases, group) for group in every),
        routings=tuple(routing(cases, group) for group in every),
        features=features,
        sendings=sendings,
        checks=tuple(check_table(cases, group) for group in language_groups(cases)),
        misrouted=misrouted(cases),
        sweep=sweep(cases),
    )
