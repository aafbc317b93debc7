"""`truthgate policy compare`: policies, and workers in shadow, beside each other on the same answers."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Final

import typer

from scoring.guarantees.joined_ratings import JoinedRating
from scoring.guarantees.policy_comparison import (
    Decider,
    PolicyDifference,
    certified_decision,
    compare_policies,
    recorded_decision,
)
from scoring.values.exchange import Decision
from streams.cli.command_output import CommandFailed, UsageError, write_json, write_line
from streams.cli.common_options import AsJson, ConfigFile, parse_time
from streams.cli.policy.policy_fit import Since, read_ratings
from streams.cli.policy.policy_rendering import print_differences
from streams.cli.policy.policy_topic import check_change
from streams.reviews.policy_candidates import candidate_differences, candidates, shadow_differences
from streams.reviews.policy_records import Change
from streams.reviews.policy_state import PolicyState
from streams.settings import load_settings

#: What was decided when the verdict was made, whatever by.
_RECORDED: Final = "recorded"
#: Before the name of a worker in shadow.
_SHADOW: Final = "shadow:"

Shadows = Mapping[str, Mapping[str, Decision]]


def compare(
    first: Annotated[
        str | None,
        typer.Argument(metavar="[VERSION]", help="As `policy list` names it, `recorded`, or `shadow:NAME`."),
    ] = None,
    second: Annotated[str | None, typer.Argument(metavar="[VERSION]", help="Another one.")] = None,
    since: Since = None,
    until: Annotated[
        datetime | None,
        typer.Option(
            parser=parse_time,
            metavar="TIME",
            help="Only verdicts before this time. Default: now; few of the last answers are rated yet.",
        ),
    ] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Compare what two policies would decide about the rated and unrated answers of a time.

    Of the true and the untrue answers it says what share each sends, with an interval of 95%, and what one
    alone sends, for all and by group. It is about what certificates send: `recorded` is what was decided
    then, by whatever policy. Shares are weighted: the ratings of the audit sample stand for what was not
    drawn. A policy looks better on the ratings that it was fitted to: compare by later ones (--since).

    `shadow:NAME` is what the workers with `shadow.name` NAME decided of the answers that they judged. Without
    a VERSION, each proposed policy since its proposal and each shadow is compared with `recorded`.

    Example: `truthgate policy compare recorded fitted-20260302T0915Z-3f2a9c1d --since 30d`
    """
    if (first is None) != (second is None):
        raise UsageError("name two versions to compare, or none for all that decide without effect")
    settings = load_settings(config)
    joined, state, shadows = asyncio.run(read_ratings(settings, since, until or datetime.now(UTC)))
    if first is not None and second is not None:
        compared = {(first, second): _differences(joined.ratings, state, shadows, first, second)}
    else:
        compared = _beside_recorded(joined.ratings, state, shadows)
    for (one, other), found in compared.items():
        if as_json:
            write_json({"first": one, "second": other, "groups": [asdict(each) for each in found]})
        else:
            write_line(f"first: {one}, second: {other}")
            print_differences(found)


def _beside_recorded(
    ratings: Sequence[JoinedRating], state: PolicyState, shadows: Shadows
) -> dict[tuple[str, str], tuple[PolicyDifference, ...]]:
    proposed = candidate_differences(ratings, candidates(state))
    shadowed = {f"{_SHADOW}{name}": shadow_differences(ratings, each) for name, each in shadows.items()}
    found = {(_RECORDED, name): each for name, each in {**proposed, **shadowed}.items() if each}
    if not found:
        raise CommandFailed("no proposed policy and no shadow has judged answers of this time")
    return found


def _differences(
    ratings: Sequence[JoinedRating], state: PolicyState, shadows: Shadows, first: str, second: str
) -> tuple[PolicyDifference, ...]:
    """Compare two on the answers that both judged; raises CommandFailed if there are none."""
    deciders = [_decider(state, shadows, name) for name in (first, second)]
    for name in (first, second):
        if name.startswith(_SHADOW):
            decisions = shadows[name.removeprefix(_SHADOW)]
            ratings = [each for each in ratings if each.facts.verdict_id in decisions]
    if not ratings:
        raise CommandFailed(f"{first} and {second} have judged no answer of this time both")
    return compare_policies(ratings, *deciders)


def _decider(state: PolicyState, shadows: Shadows, name: str) -> Decider:
    if name == _RECORDED:
        return recorded_decision
    if name.startswith(_SHADOW):
        decisions = shadows.get(name.removeprefix(_SHADOW))
        if not decisions:
            raise CommandFailed(f"{name} has judged no answer of this time")
        return lambda facts: decisions[facts.verdict_id]
    check_change(state, name, Change.APPROVED)
    fitted = state.version(name).fitted
    if fitted is None:
        raise CommandFailed(f"{name} has no certificates: compare with `{_RECORDED}`")
    return certified_decision(fitted)
