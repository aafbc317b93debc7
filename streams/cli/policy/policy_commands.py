"""`truthgate policy list`, `show`, `approve` and `withdraw`."""

import asyncio
from typing import Annotated, Any

import typer

from scoring.values.exchange import Decision
from streams.cli.command_output import CommandFailed, say, write_json, write_line
from streams.cli.common_options import AsJson, By, ConfigFile, Why, operator_and_reason
from streams.cli.policy.policy_compare import compare
from streams.cli.policy.policy_fit import fit
from streams.cli.policy.policy_rendering import print_certificates, promise_text
from streams.cli.policy.policy_topic import (
    approve_version,
    certificate_json,
    check_change,
    history,
    read_policies,
    write_change,
)
from streams.cli.verdict_rendering import print_table
from streams.reviews.policy_records import SETTINGS_VERSION, Change
from streams.reviews.policy_state import PolicyState, PolicyVersion
from streams.settings import load_settings

app = typer.Typer(help="Fit a policy to the ratings of reviewers, and choose which one decides.")
app.command()(fit)
app.command()(compare)

Version = Annotated[str, typer.Argument(metavar="VERSION", help="As `policy list` names it.")]


@app.command("list")
def list_versions(as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List the fitted policies: which one decides, and what each promises.

    As long as none is approved, the policy of the settings decides.

    Example: `truthgate policy list`
    """
    state = asyncio.run(read_policies(load_settings(config)))
    if as_json:
        for each in state.versions:
            write_json(_version_json(state, each))
        return
    headings = ("version", "status", "since", "by", "sends", "of", "ratings", "promise")
    print_table(headings, [_row(state, each) for each in state.versions], ("sends", "ratings"))
    if state.current.version == SETTINGS_VERSION:
        say("the policy of the settings decides")


@app.command()
def show(
    version: Annotated[
        str | None, typer.Argument(metavar="VERSION", help="Default: the one that decides.")
    ] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show one policy: its certificates, its risk model, and who changed it when and why.

    Example: `truthgate policy show fitted-20260302T0915Z-3f2a9c1d`
    """
    state = asyncio.run(read_policies(load_settings(config)))
    chosen = state.version(version) if version else state.current
    if not chosen.entries and chosen.version != SETTINGS_VERSION:
        raise CommandFailed(f"{version} was not proposed: see `truthgate policy list`")
    if as_json:
        write_json({**_version_json(state, chosen), "history": list(history(chosen))})
        return
    write_line(f"{chosen.version}: {state.status(chosen)}")
    for group in sorted(chosen.withdrawn_groups):
        write_line(f"withdrawn for {group}")
    if chosen.fitted:
        print_certificates(chosen.fitted.certificates)
        weights = [(name, f"{weight:.3f}") for name, weight in chosen.fitted.model.weights]
        table = [("(intercept)", f"{chosen.fitted.model.intercept:.3f}"), *weights]
        print_table((f"risk {chosen.fitted.model.identity}", "weight"), table, ("weight",))
    print_table(_HISTORY, [[each.get(name) or "" for name in _HISTORY] for each in history(chosen)])


_HISTORY = ("change", "group", "at", "by", "reason", "error")


@app.command()
def approve(
    version: Version,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="Why. Everybody sees it: name no customer.")
    ] = "approved",
    by: By = None,
    config: ConfigFile = None,
) -> None:
    """Let a policy decide in all workers, within seconds; it takes the place of the one before.

    To go back, approve an earlier version, or `settings` for the policy of the settings. What was withdrawn
    can be approved again, and its watch begins anew. Exit code 1 when there is no such version.

    Example: `truthgate policy approve fitted-20260302T0915Z-3f2a9c1d --reason "ratings of February"`
    """
    settings, who = load_settings(config), operator_and_reason(by, reason)
    check_change(asyncio.run(read_policies(settings)), version, Change.APPROVED)
    approve_version(settings, version, who)


@app.command()
def withdraw(
    version: Version,
    reason: Why,
    group: Annotated[
        str | None,
        typer.Option("--group", metavar="GROUP", help="Only for these answers, such as `instruction nl`."),
    ] = None,
    by: By = None,
    config: ConfigFile = None,
) -> None:
    """Send nothing by this policy any more, until one is approved; what it would send goes to review.

    Exit code 1 when there is no such version.

    Example: `truthgate policy withdraw fitted-20260302T0915Z-3f2a9c1d --reason "prices have changed"`
    """
    settings, who = load_settings(config), operator_and_reason(by, reason)
    check_change(asyncio.run(read_policies(settings)), version, Change.WITHDRAWN, group)
    asyncio.run(write_change(settings, version, Change.WITHDRAWN, who, group))
    say(f"{version} is withdrawn{f' for {group}' if group is not None else ''}")


def _row(state: PolicyState, version: PolicyVersion) -> tuple[object, ...]:
    last = next((each.change for each in reversed(version.entries) if each.change), None)
    since = (f"{last.at.astimezone():%Y-%m-%d %H:%M:%S}", last.by) if last else ("", "")
    certificates = version.fitted.certificates if version.fitted else ()
    sending = [each for each in certificates if each.decision is Decision.AUTO_SEND]
    if not sending:
        return version.version, state.status(version), *since, "", "", "", ""
    answers = sum(each.answers for each in sending)
    sent = sum(each.answers * each.coverage for each in sending) / answers
    groups = ", ".join(group for each in sending for group in each.groups)
    ratings = sum(each.ratings for each in sending)
    return (
        version.version,
        state.status(version),
        *since,
        f"{sent:.0%}",
        groups,
        ratings,
        promise_text(sending[0]),
    )


def _version_json(state: PolicyState, version: PolicyVersion) -> dict[str, Any]:
    fitted = version.fitted
    return {
        "version": version.version,
        "status": state.status(version),
        "current": version.version == state.current.version,
        "withdrawn_groups": sorted(version.withdrawn_groups),
        "model": fitted
        and {
            "name": fitted.model.name,
            "identity": fitted.model.identity,
            "intercept": fitted.model.intercept,
            "weights": dict(fitted.model.weights),
        },
        "certificates": [certificate_json(each) for each in fitted.certificates] if fitted else [],
    }
