"""What a fit would send and block, measured on joined ratings: to look at."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from scoring.guarantees.asking_fit import (
    NO_BUDGET,
    AskingBudget,
    AskingPlan,
    FittedAsking,
    OpinionsMissing,
    fit_asking,
    judge_plan,
    reviewer_plan,
)
from scoring.guarantees.certification import Proposal, propose
from scoring.guarantees.joined_ratings import JoinedRating
from scoring.guarantees.policy_comparison import (
    DecidedShares,
    certified_decision,
    grouped_shares,
)
from scoring.policy.certificates import Promise

#: What sending costs is shown for these.
ALPHAS: Final = (0.02, 0.05, 0.1)


@dataclass(frozen=True, slots=True)
class AlphaCost:
    """What a promise of another ``alpha`` would send, of all and by group; nothing if it promises nothing."""

    alpha: float
    shares: tuple[DecidedShares, ...]


@dataclass(frozen=True, slots=True)
class FitReport:
    """A fit with what it was made of, and what it would decide, of all and by group."""

    proposal: Proposal
    answers: int
    rated: int
    drawn: int
    #: Rated by the choice of a reviewer: they teach the model, and test no threshold.
    chosen: int
    costs: tuple[AlphaCost, ...]
    groups: tuple[DecidedShares, ...]
    asking: FittedAsking | OpinionsMissing
    #: Of the answers in doubt, with a budget for opinions and an order that beats chance.
    judges: AskingPlan | None
    #: Of the held answers, with a budget for reviews.
    reviewers: AskingPlan | None


def fit_report(
    ratings: Sequence[JoinedRating],
    send: Promise,
    block: Promise | None,
    attempt: int,
    budget: AskingBudget = NO_BUDGET,
) -> FitReport:
    """Fit, and say what it costs, and what to ask judges and reviewers about.

    With a ``budget`` of opinions, what is proposed asks judges in that order.

    The costs of other alphas are there to look at: who chooses an alpha by them has tried several, and no
    promise is made for that.
    """
    proposal = propose(ratings, send, block, attempt=attempt)
    model = proposal.thresholds.model
    asking, judges, reviewers = fit_asking(ratings, model), None, None
    if isinstance(asking, FittedAsking) and asking.beats_chance and budget.opinions_per_day is not None:
        judges = judge_plan(ratings, asking.order, budget.opinions_per_day)
    if budget.reviews_per_day is not None:
        reviewers = reviewer_plan(ratings, model, budget.reviews_per_day)
    costs = []
    for alpha in ALPHAS:
        promise = Promise(alpha, send.delta, send.missed)
        is_fitted = promise == send and block is None
        other = (proposal if is_fitted else propose(ratings, promise, attempt=attempt)).thresholds
        shares = grouped_shares(ratings, certified_decision(other)) if other.certificates else ()
        costs.append(AlphaCost(alpha, shares))
    order = judges.order if judges else None
    return FitReport(
        replace(proposal, thresholds=replace(proposal.thresholds, asking=order)),
        len(ratings),
        sum(each.truth is not None for each in ratings),
        sum(each.truth is not None and each.draw.drawn for each in ratings),
        sum(each.is_chosen_by_reviewer for each in ratings),
        tuple(costs),
        grouped_shares(ratings, certified_decision(proposal.thresholds)),
        asking,
        judges,
        reviewers,
    )
