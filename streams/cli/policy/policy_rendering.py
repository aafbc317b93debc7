"""Fits, certificates and comparisons as tables. Needs no scipy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from scoring.policy.certificates import Certificate
from streams.cli.command_output import plural, write_line
from streams.cli.verdict_rendering import humanize_code, print_table

if TYPE_CHECKING:
    from scoring.evaluation.statistics import Share
    from scoring.guarantees.certification import PromiseRefused
    from scoring.guarantees.estimates import WeightedShare
    from scoring.guarantees.policy_comparison import DecidedShares, PolicyDifference
    from scoring.guarantees.policy_report import FitReport
    from scoring.guarantees.risk_fitting import FittedRisk, RatingsMissing

_NOTHING: Final = "-"


def print_fit(report: FitReport) -> None:
    """Print what was fitted and how well, what is refused, and what it costs."""
    write_line(
        f"{plural(report.answers, 'answer')}, {report.rated} rated: {report.drawn} held or drawn, "
        f"{report.chosen} by the choice of a reviewer"
    )
    _print_risk(report.proposal.risk)
    for refused in report.proposal.refused:
        write_line(_refusal(refused))
    write_line("What would have been decided about these answers, with those that the risk was fitted to:")
    costs = [
        (f"{each.alpha:.0%}", *(_decided(each.shares[0]) if each.shares else ("nothing", *[_NOTHING] * 3)))
        for each in report.costs
    ]
    headings = ("sends", "of the true", "of the untrue", "mistakes among it")
    print_table(("alpha", *headings), costs, ("alpha", "sends"))
    print_table(("answers", *headings), [(each.name, *_decided(each)) for each in report.groups], ("sends",))


def print_certificates(certificates: Iterable[Certificate]) -> None:
    """Print one row a certificate."""
    headings = ("decision", "groups", "risk", "share", "ratings", "mistakes", "at most", "promise")
    rows = [
        (
            humanize_code(each.decision),
            ", ".join(each.groups),
            f"{'≤' if each.decision == 'auto_send' else '≥'} {each.threshold:.3f}",
            f"{each.coverage:.0%} of {each.answers}",
            each.ratings,
            each.mistakes,
            f"{each.bound:.1%}",
            promise_text(each),
        )
        for each in certificates
    ]
    if rows:
        print_table(headings, rows, ("risk", "share", "ratings", "mistakes", "at most"))


def print_asking(report: FitReport) -> None:
    """Print what opinions tell, and which answers judges and reviewers are to be asked about first."""
    from scoring.guarantees.asking_fit import OpinionsMissing  # noqa: PLC0415 - needs scipy

    asking = report.asking
    if isinstance(asking, OpinionsMissing):
        missing = f"{plural(asking.opinions, 'more opinion')} needed" if asking.opinions else ""
        why = missing or "the risk does not depend on opinions"
        write_line(f"no order of asking judges was fitted: {why}")
    else:
        told = ", ".join(f"{each.share:.0%} tell {each.told:.0%}" for each in asking.told)
        write_line(f"asking judges in order, by {plural(asking.opinions, 'opinion')} not fitted to: {told}")
        if not asking.beats_chance:
            write_line("that is no more than chance may give: the budget is spent as answers come")
    for who, plan in (("judges", report.judges), ("reviewers", report.reviewers)):
        if plan is None:
            continue
        write_line(
            f"{who} first: {plan.first} of {plural(plan.answers, 'answer')}, value at least "
            f"{plan.order.threshold:.3f}, {plan.gained:.0%} of the value of all"
        )
        rows = [(each.name, f"{each.first} of {each.answers}") for each in plan.groups]
        print_table(("answers", "first"), rows, ("first",))


def promise_text(certificate: Certificate) -> str:
    """Return what a certificate promises in a few words."""
    promise = certificate.promise
    return f"≤ {promise.alpha:.1%} mistakes, {1 - promise.delta:.0%} sure"


def print_differences(differences: Sequence[PolicyDifference]) -> None:
    """Print what two policies send, for all and by group."""
    both = ("first sends", "of the true", "of the untrue", "second sends", "of the true", "of the untrue")
    alone = ("only first", "mistakes", "only second", "mistakes")
    rows = [
        (
            each.first.name,
            *_decided(each.first)[:3],
            *_decided(each.second)[:3],
            each.only_first,
            _share(each.only_first_mistakes),
            each.only_second,
            _share(each.only_second_mistakes),
        )
        for each in differences
    ]
    print_table(("answers", *both, *alone), rows)


def _decided(shares: DecidedShares) -> tuple[str, str, str, str]:
    sent = f"{shares.sent} of {shares.answers}"
    return sent, _share(shares.true_sent), _share(shares.untrue_sent), _share(shares.mistakes)


def _share(share: WeightedShare | None) -> str:
    if share is None:
        return _NOTHING
    return f"{share.value:.1%} [{100 * share.low:.1f}, {100 * share.high:.1f}] of {share.number}"


def _print_risk(risk: FittedRisk | RatingsMissing) -> None:
    from scoring.guarantees.risk_fitting import RatingsMissing  # noqa: PLC0415 - needs scipy

    if isinstance(risk, RatingsMissing):
        needs = ((risk.ratings, "rating"), (risk.mistakes, "mistake"), (risk.others, "true answer"))
        missing = ", ".join(plural(number, noun) for number, noun in needs if number)
        write_line(f"no risk was fitted, the shipped one is tested: {missing} more to fit it to")
        return
    calibration = risk.calibration
    write_line(
        f"risk fitted to {plural(risk.ratings, 'rating')}: Brier score {calibration.brier:.3f}, "
        f"{calibration.brier_score_alone:.3f} by the score alone, {calibration.brier_constant:.3f} by none"
    )
    bins = [(f"{each.risk:.2f}", _counted(each.mistakes)) for each in calibration.bins]
    print_table(("risk", "mistakes"), bins, ("risk",))


def _counted(share: Share) -> str:
    return f"{share.value:.0%} [{100 * share.low:.0f}, {100 * share.high:.0f}] of {share.total}"


def _refusal(refused: PromiseRefused) -> str:
    what = f"{humanize_code(refused.decision)}, {', '.join(refused.groups)}"
    missing = (
        f": at least {plural(refused.ratings_missing, 'more rating')}" if refused.ratings_missing else ""
    )
    return f"nothing is promised for {what}: {humanize_code(refused.reason)}{missing}"
