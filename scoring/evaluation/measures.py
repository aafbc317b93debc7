"""The few figures by which runs are compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scoring.evaluation.cases import ALL_CASES, EvaluationCase
from scoring.evaluation.correlation import SCORE, FeatureRow
from scoring.evaluation.routing import RoutingRow, SendingShares, routed_cases, routing_row
from scoring.evaluation.statistics import Estimate, Share
from scoring.values.opinion import Label

#: What each measure says, by its name.
MEASURES: Final[Mapping[str, str]] = {
    "sent": "the share of the rated answers that were sent",
    "review": "the share of the rated answers that went to review",
    "blocked": "the share of the rated answers that were blocked",
    "untrue": "the share of untrue answers among all that were sent; 0 where none was",
    "sent_true": "the share of the true answers that were sent",
    "sent_untrue": "the share of the untrue answers that were sent",
    "blocked_true": "the share of the true answers that were blocked",
    "blocked_untrue": "the share of the untrue answers that were blocked",
    "spearman": "the rank correlation of score and rating",
    "auroc": "how often an answer rated 5 has a higher score than one rated 1",
}


@dataclass(frozen=True, slots=True)
class RunSummary:
    """How a run decided on the rated answers, and how well its score ranks them.

    ``measures`` are these figures by the names of :data:`MEASURES`, None where undefined.
    """

    rated: int
    neither: int
    decisions: RoutingRow
    sending: SendingShares
    spearman: Estimate | None
    auroc: Estimate | None
    measures: Mapping[str, float | None]


def summarize(
    cases: Sequence[EvaluationCase], sending: SendingShares, features: Sequence[FeatureRow]
) -> RunSummary:
    """Summarize a run; ``sending`` and ``features`` are its tables of all answers.

    Answers that could not be translated as requested are excluded.
    """
    members, _ = routed_cases(cases, ALL_CASES)
    decisions = routing_row([case.decision for case in members])
    ranking = next(row for row in features if row.name == SCORE)
    found: dict[str, Share | Estimate | None] = {
        "sent": decisions.auto_send,
        "review": decisions.review,
        "blocked": decisions.blocked,
        "sent_true": sending.true.auto_send,
        "sent_untrue": sending.untrue.auto_send,
        "blocked_true": sending.true.blocked,
        "blocked_untrue": sending.untrue.blocked,
        "spearman": ranking.spearman,
        "auroc": ranking.auroc,
    }
    measures = {name: None if each is None else each.value for name, each in found.items()}
    if members:
        measures["untrue"] = sending.untrue_of_sent.value if sending.untrue_of_sent else 0.0
    return RunSummary(
        rated=len(members),
        neither=sum(case.truth not in (Label.TRUE, Label.FALSE) for case in members),
        decisions=decisions,
        sending=sending,
        spearman=ranking.spearman,
        auroc=ranking.auroc,
        measures={name: measures.get(name) for name in MEASURES},
    )
