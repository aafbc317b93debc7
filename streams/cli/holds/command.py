"""The commands: what is held, who says so and why, in one line each."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Sequence
from itertools import product
from typing import Annotated

import typer

from scoring.language import stated_language
from scoring.policy import Scope
from scoring.values.types import MessageType
from streams.cli.exits import CommandFailed, WrongUsage
from streams.cli.holds.changing import Change
from streams.cli.holds.shown import described, held_now, name, table
from streams.cli.language_codes import check_languages
from streams.cli.options import AsJson, ConfigFile
from streams.cli.output import json_line, say, write_line
from streams.cli.render import ResultConsole
from streams.cli.sending import send_each
from streams.holds.board import Entry
from streams.holds.told import in_words
from streams.settings import Settings, load_settings

Why = Annotated[
    str,
    typer.Option(
        "--reason",
        "-r",
        metavar="TEXT",
        help="Why. Everybody sees it in `holds`, in `tail` and on the page: name no customer.",
    ),
]
By = Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who. Default: the name of the user.")]
MessageTypes = Annotated[
    list[MessageType] | None,
    typer.Option("--message-type", "-t", help="Only answers to such questions; may be repeated."),
]
Languages = Annotated[
    list[str] | None,
    typer.Option("--language", "-l", metavar="CODE", help="Only answers in it, such as nl; may be repeated."),
]


def hold(
    reason: Why,
    message_type: MessageTypes = None,
    language: Languages = None,
    by: By = None,
    config: ConfigFile = None,
) -> None:
    """Stop sending by itself, at once, in all workers: what would be sent goes to review.

    It lasts until `truthgate resume`, also over restarts. What is blocked stays blocked. What a worker had
    decided on before it heard of the hold, within a second as a rule, is still sent.

    Example: `truthgate hold --reason "prices on the help pages are wrong" --message-type instruction`
    """
    check_languages("--language", language)
    settings = load_settings(config)
    change = Change(settings, _who(by), _why(reason))
    scopes = _scopes(message_type, language)
    records = [change.held(scope) for scope in scopes]
    asyncio.run(send_each(settings, records))
    say(f"sending is held: {', '.join(map(in_words, scopes))}")


def resume(
    reason: Why,
    message_type: MessageTypes = None,
    language: Languages = None,
    every: Annotated[
        bool, typer.Option("--all", help="Let everything go that is held, also what cannot be read.")
    ] = False,
    unreadable: Annotated[
        bool, typer.Option("--unreadable", help="Only remove records that no worker can read.")
    ] = False,
    by: By = None,
    config: ConfigFile = None,
) -> None:
    """Let answers be sent by themselves again: those of one hold, named as it was named, or `--all`.

    What was held meanwhile stays with the people: nothing is sent afterwards. Exit code 1 when nothing is
    held by that name, and then nothing is changed.

    Example: `truthgate resume --reason "pages are right again" --message-type instruction`
    """
    settings = load_settings(config)
    if every + unreadable + bool(message_type or language) > 1:
        raise WrongUsage("--all, --unreadable and --message-type or --language exclude each other")
    # A code of two letters that is none may be held by an earlier release, which took it.
    check_languages("--language", (each for each in language or () if stated_language(each) is None))
    change = Change(settings, _who(by), _why(reason))
    wanted = [None] if unreadable else _scopes(message_type, language)
    gone, left = asyncio.run(_resume(settings, change, None if every else wanted))
    say(f"sending goes on: {', '.join(map(name, gone))}")
    own = (f"{in_words(scope)} (policy.hold)" for scope in settings.policy.held)
    if names := [*map(name, left), *own]:
        say(f"still held: {', '.join(names)}")


def holds(as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Show what is held: which answers, since when, by whom and why.

    Example: `truthgate holds`
    """
    settings = load_settings(config)
    policy, held = settings.policy, asyncio.run(held_now(settings))
    if as_json:
        for each in described(policy, held):
            write_line(json_line(each))
    elif held or policy.held:
        ResultConsole().print(table(policy, held))
    else:
        say("nothing is held")


def _scopes(message_types: list[MessageType] | None, languages: list[str] | None) -> list[Scope]:
    kinds = dict.fromkeys(message_types) if message_types else (None,)
    spoken = dict.fromkeys(languages) if languages else (None,)
    try:
        return [Scope(kind, language) for kind, language in product(kinds, spoken)]
    except ValueError as error:
        raise WrongUsage(f"--language: {error}") from error


def _why(reason: str) -> str:
    if not (said := reason.strip()):
        raise WrongUsage("--reason is empty: say why")
    return said


def _who(by: str | None) -> str:
    if by is not None:
        if not (said := by.strip()):
            raise WrongUsage("--by is empty: say who")
        return said
    try:
        return getpass.getuser()
    except (KeyError, OSError) as error:  # in a container there may be no user of that number
        raise WrongUsage("the user has no name here: say who with --by") from error


async def _resume(
    settings: Settings, change: Change, wanted: Sequence[Scope | None] | None
) -> tuple[list[Entry], list[Entry]]:
    """Let go what is wanted, everything for None; return what that was, and what is left.

    A scope of None stands for what cannot be read. Raises CommandFailed where one of them is not held.
    """
    held = await held_now(settings)
    chosen = [entry for entry in held if wanted is None or entry.scope in wanted]
    missing = set(wanted or ()) - {entry.scope for entry in chosen}
    if missing or not chosen:
        names = sorted(in_words(each) if each else "what is unreadable" for each in missing)
        raise CommandFailed(f"no hold is on {', '.join(names) or 'anything'}: see `truthgate holds`")
    await send_each(settings, map(change.resumed, chosen))
    return chosen, [entry for entry in held if entry not in chosen]
