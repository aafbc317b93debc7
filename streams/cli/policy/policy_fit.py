"""`truthgate policy fit`: what the ratings of reviewers show and promise. Fitting needs scipy."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from scoring.guarantees.joined_ratings import Joined
from scoring.judges import METHODS
from scoring.policy.certificates import Promise
from scoring.values.exchange import Decision
from streams.cli.command_files import atomic_write, check_not_overwriting, check_writable
from streams.cli.command_output import (
    CommandFailed,
    UsageError,
    progress_bar,
    require_package,
    say,
    write_json,
)
from streams.cli.common_options import AsJson, By, ConfigFile, operator_and_reason, parse_time
from streams.cli.policy.policy_figures import to_figures
from streams.cli.policy.policy_rendering import print_asking, print_certificates, print_fit
from streams.cli.policy.policy_topic import (
    approve_version,
    certificate_json,
    read_policies,
    write_change,
)
from streams.cli.topic_access import open_topics
from streams.desk.sessions import stored_key
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics
from streams.llm.inquiry import chain_from_settings
from streams.rates.verdict_counts import from_epoch_ms
from streams.reviews.audit_sample import AuditSample
from streams.reviews.policy_records import Change, new_version, to_content
from streams.reviews.policy_state import PolicyState
from streams.reviews.rating_follower import KEPT_DAYS, RatingFollower
from streams.reviews.rating_store import RatingStore, rating_topics
from streams.settings import Settings, load_settings

if TYPE_CHECKING:
    from scoring.guarantees.asking_fit import AskingBudget

_PLOT_FORMATS: Final = {".png": "png", ".svg": "svg"}

Since = Annotated[
    datetime | None,
    typer.Option(
        parser=parse_time,
        metavar="TIME",
        help=f"Only verdicts of this time or later, e.g. 2026-03-02T09:15, or an age, e.g. 30d. Default: "
        f"{KEPT_DAYS}d.",
    ),
]
Until = Annotated[
    datetime | None,
    typer.Option(
        parser=parse_time,
        metavar="TIME",
        help="Only verdicts before this time. What was drawn and is not rated by now counts as a mistake, so "
        "reviewers should have had the time. Default: desk.blocked_time_limit_seconds ago, a week.",
    ),
]


def fit(
    alpha: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="The largest share of mistakes among what is sent.")
    ] = 0.05,
    delta: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="How probable it may be that the promise does not hold.")
    ] = 0.05,
    missed: Annotated[
        float, typer.Option(min=0, max=0.9, help="The share of mistakes that reviewers are thought to miss.")
    ] = 0.0,
    block_alpha: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=0.5,
            help="Fit blocking, too: the largest share of answers among the blocked that are not untrue.",
        ),
    ] = None,
    judge_calls: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="How many requests to judges there are a day: the policy keeps them for the answers that "
            "opinions tell most of. Default: judges.budget.requests_per_day.",
        ),
    ] = None,
    reviewer_minutes: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="N", help="How many minutes a day reviewers have: say what to review first."
        ),
    ] = None,
    minutes_per_answer: Annotated[
        float, typer.Option(min=0.01, metavar="N", help="How many minutes a review takes.")
    ] = 2.0,
    since: Since = None,
    until: Until = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False, metavar="FILE", help="Plot risk against coverage, and calibration: .png or .svg."
        ),
    ] = None,
    propose: Annotated[
        bool, typer.Option("--propose", help="Publish the policy, for `policy approve`.")
    ] = False,
    approve: Annotated[
        bool,
        typer.Option(
            "--approve", help="With --propose: let it decide at once, as a job that fits each week."
        ),
    ] = False,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="Why it is proposed. Name no customer.")
    ] = "fitted to ratings",
    by: By = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Fit a policy to what reviewers found, and say what it can promise.

    Verdicts and reviews are read from their topics. The risk of an answer is fitted to older ratings, and
    tested by newer ones: the largest set of answers is sent of which at most --alpha are mistakes, but for
    the probability --delta. Ratings of held answers and those of the audit sample count (desk.audit_key must
    be that of the desk), and what a reviewer chose to rate only teaches the risk. Each fit with --propose
    gets a part of --delta (half, the next one a sixth, and so on), also one that can promise nothing, so that
    all of them together keep it. A fit without --propose is not counted: who looks until something passes,
    and proposes that, is promised less. Decide on --alpha and on the day before.

    With a budget of judges' requests or of reviewers' minutes it also says which answers to ask about first:
    those whose risk an opinion or a rating is expected to move most. A proposal keeps the judges' budget for
    these.

    It says how many ratings are missing where nothing can be promised. Exit code 1 with --propose when there
    is nothing to approve. Needs `pip install 'truthgate[evaluate]'`, and `truthgate[plot]` for --plot.

    Example: `truthgate policy fit --alpha .05 --propose`
    """
    require_package("scipy", "evaluate")
    from scoring.guarantees.policy_report import fit_report  # noqa: PLC0415 - needs scipy

    if approve and not propose:
        raise UsageError("--approve needs --propose")
    if plot:
        _check_plot(plot, config)
    settings, who = load_settings(config), operator_and_reason(by, reason) if propose else ("", "")
    until = until or datetime.now(UTC) - timedelta(seconds=settings.desk.blocked_time_limit_seconds)
    joined, state, _ = asyncio.run(read_ratings(settings, since, until))
    send = Promise(alpha, delta, missed)
    block = None if block_alpha is None else Promise(block_alpha, delta)
    attempt = 1 + sum(each.proposal is not None for each in state.versions)
    budget = asking_budget(settings, judge_calls, reviewer_minutes, minutes_per_answer)
    report = fit_report(joined.ratings, send, block, attempt, budget)
    thresholds = report.proposal.thresholds
    if plot:
        from streams.cli.policy.policy_plot import draw_fit  # noqa: PLC0415 - needs matplotlib

        with atomic_write(plot) as partial_file:
            draw_fit(partial_file, _PLOT_FORMATS[plot.suffix.lower()], report, alpha)
    if as_json:
        content: dict[str, Any] = {"attempt": attempt, **asdict(report)}
        content["proposal"]["thresholds"]["certificates"] = list(
            map(certificate_json, thresholds.certificates)
        )
        write_json(content)
    else:
        print_fit(report)
        print_certificates(thresholds.certificates)
        print_asking(report)
    if not propose:
        return
    version = new_version(thresholds, datetime.now(UTC))
    levels = {Decision.AUTO_SEND: send.level, Decision.BLOCKED: block.level if block else 0.0}
    proposed = replace(to_content(thresholds), figures=to_figures(report, levels))
    asyncio.run(write_change(settings, version, Change.PROPOSED, who, content=proposed))
    if not thresholds.certificates:
        raise CommandFailed(f"nothing can be promised: {version} is noted as attempt {attempt}, which counts")
    if approve:
        approve_version(settings, version, who)
    else:
        say(f"proposed: {version}; `truthgate policy approve {version}` lets it decide")


def asking_budget(
    settings: Settings, judge_calls: int | None, reviewer_minutes: float | None, minutes_per_answer: float
) -> AskingBudget:
    """Return what there is a day: requests as opinions of the chain's first method, minutes as reviews."""
    from scoring.guarantees.asking_fit import AskingBudget  # noqa: PLC0415 - needs scipy

    calls = settings.judges.budget.requests_per_day if judge_calls is None else judge_calls
    first = chain_from_settings(settings.judges)[:1]
    requests = METHODS[first[0].method].max_requests(first[0].options) if first else 1
    return AskingBudget(
        None if calls is None else calls / requests,
        None if reviewer_minutes is None else reviewer_minutes / minutes_per_answer,
    )


def _check_plot(path: Path, config: Path | None) -> None:
    if path.suffix.lower() not in _PLOT_FORMATS:
        raise UsageError(f"--plot {path}: the name must end in {' or '.join(_PLOT_FORMATS)}")
    check_not_overwriting(path, [config], "--plot")
    check_writable(path)
    require_package("matplotlib", "plot")


async def read_ratings(
    settings: Settings, since: datetime | None, until: datetime
) -> tuple[Joined, PolicyState, dict[str, dict[str, Decision]]]:
    """Read the ratings of a time, the policies, and what each shadow decided of these answers.

    Raises as :func:`open_topics` does, CommandFailed.
    """
    since = since or datetime.now(UTC) - timedelta(days=KEPT_DAYS)
    if since >= until:
        raise UsageError(
            f"--since {since:%Y-%m-%dT%H:%MZ} is not before --until {until:%Y-%m-%dT%H:%MZ}: as long as "
            "desk.blocked_time_limit_seconds has not passed, a rating may still come"
        )
    state, codec, sample = await read_policies(settings), create_codec(settings), _audit_sample(settings)
    with TemporaryDirectory() as folder, progress_bar("reading", None) as bar:
        store = RatingStore(Path(folder), codec)
        try:
            follower = RatingFollower(settings.kafka, codec, store)
            topics = rating_topics(Topics(settings.kafka.topic_prefix))
            async with open_topics(settings.kafka, *topics) as (reader, log):
                await follower.read_to_end(reader, log, lambda number: bar.advance(bar.task_ids[0], number))
            complete = from_epoch_ms(follower.complete_since(log))
            if since < complete:
                say(f"verdicts before {complete:%Y-%m-%dT%H:%MZ} are left out: Kafka has deleted some")
                since = complete
            begin, end = (round(1000 * each.timestamp()) for each in (since, until))
            joined = store.joined(sample, begin, end)
            ids = [each.facts.verdict_id for each in joined.ratings]
            shadows = {name: store.shadow_decisions(name, ids) for name in store.shadow_names(begin)}
        finally:
            store.close()
    if not joined.ratings:
        raise CommandFailed(
            f"no verdicts between {since:%Y-%m-%dT%H:%MZ} and {until:%Y-%m-%dT%H:%MZ}: they are kept for "
            "topics.verdict_retention_days, and newer ones count with --until"
        )
    return joined, state, shadows


def _audit_sample(settings: Settings) -> AuditSample:
    """Return the sample of the desk, or one that draws nothing if its key is not known here."""
    key, folder = settings.desk.audit_key, settings.desk.store
    if key:
        return AuditSample(key.get_secret_value().encode(), settings.desk.audit_share)
    if (folder / "audit.key").exists():
        return AuditSample(stored_key(folder, "audit"), settings.desk.audit_share)
    if settings.desk.audit_share:
        say("what was sent or blocked counts as not sampled: set desk.audit_key as at the desk")
    return AuditSample(b"", 0.0)
