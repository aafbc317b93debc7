"""``truthgate settings``: which there are, which are in force, and what is wrong with them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from scoring.judges import Failure
from streams.cli.exits import CommandFailed, ExitCode, WrongUsage
from streams.cli.options import AsJson, ConfigFile
from streams.cli.output import json_line, printable, say, write_line
from streams.cli.startable import what_keeps_a_worker_from_starting
from streams.judging.endpoints.faults import with_meaning
from streams.judging.endpoints.opening import try_judges
from streams.settings import WrongSettings, without_effect
from streams.settings.described import Setting, described
from streams.settings.effective import DEFAULT, effective_settings
from streams.settings.loading import read_settings
from streams.settings.reference import sample

app = typer.Typer(help="Which settings there are, which are in force and from where, and what is wrong.")

Named = Annotated[
    str, typer.Argument(metavar="[NAME]", help="Only what begins so, such as kafka, or web.port.")
]


@app.command("list")
def list_settings(
    name: Named = "",
    toml: Annotated[bool, typer.Option("--toml", help="Write a sample file that changes nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say of every setting its type, its default, and what it does.

    Example: `truthgate settings list kafka`, `truthgate settings list --toml > truthgate.toml`
    """
    if toml and as_json:
        raise WrongUsage("--toml and --json exclude each other")
    found = [setting for setting in described() if _is_among(setting.name, name)]
    _refuse_none(found, name)
    if toml:
        write_line(sample(found).rstrip("\n"))
    for setting in found * (not toml):
        write_line(json_line(_as_json(setting)) if as_json else _told(setting))


@app.command()
def show(
    name: Named = "",
    given: Annotated[
        bool, typer.Option("--given", help="Only what the environment or the file gives.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show the settings in force, without secrets, and the variable or file that each comes from.

    Example: `truthgate settings show --given --config truthgate.toml`
    """
    found = [each for each in effective_settings(config) if _is_among(each.name, name)]
    _refuse_none(found, name)
    for each in found:
        if given and each.origin == DEFAULT:
            continue
        if as_json:
            write_line(json_line({"name": each.name, "value": json.loads(each.value), "from": each.origin}))
        else:
            value = "unset" if each.value == "null" else each.value
            write_line(printable(f"{each.name} = {value}  ({each.origin})"))


@app.command()
def check(
    ask_judges: Annotated[
        bool, typer.Option("--ask-judges", help="Ask each language model once, about nothing of yours.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Say all that is wrong with the settings, and with files, folders and packages that they name.

    No service is asked but with --ask-judges. Exit code 2 when a worker would not start with them, 3 when a
    language model does not reply, which holds answers for review and keeps no worker from starting. What is
    set and changes nothing is told on standard error, and is no failure.

    Example: `truthgate settings check --config truthgate.toml --ask-judges`
    """
    reading = read_settings(config)
    found = what_keeps_a_worker_from_starting(reading.settings) if reading.settings else ()
    if mistakes := (*reading.mistakes, *found):
        _refuse(mistakes, as_json)
    assert reading.settings
    warnings = without_effect(reading.settings)
    judges = reading.settings.judges
    if ask_judges and not judges.endpoints:
        raise WrongUsage("--ask-judges: judges.endpoints names no language model")
    asked = asyncio.run(try_judges(judges)) if ask_judges else {}
    failed = any(isinstance(each, Failure) for each in asked.values())
    if as_json:
        codes = {name: getattr(each, "code", "ok") for name, each in asked.items()}
        write_line(
            json_line({"ok": not failed, "warnings": warnings, **({"judges": codes} if codes else {})})
        )
    else:
        for warning in warnings:
            say(f"warning: {warning}")
        write_line("a worker can start with these settings")
        for name, each in asked.items():
            told = with_meaning(each.code) if isinstance(each, Failure) else f"ok, {each.seconds:.1f} s"
            write_line(f"judges.endpoints.{name}: {told}")
    raise typer.Exit(ExitCode.UNREACHABLE if failed else ExitCode.DONE)


def _refuse(mistakes: Sequence[str], as_json: bool) -> NoReturn:
    if not as_json:
        raise WrongSettings(*mistakes)
    write_line(json_line({"ok": False, "errors": mistakes}))
    raise typer.Exit(ExitCode.WRONG_USAGE)


def _is_among(name: str, asked: str) -> bool:
    return name.startswith(asked.lower())


def _refuse_none(found: Sequence[object], asked: str) -> None:
    if not found:
        raise CommandFailed(f"no setting begins with {asked!r}")


def _told(setting: Setting) -> str:
    default = f", {setting.default} unless set" if setting.default is not None else ""
    return f"{setting.name}  ({setting.type}{default})\n    {setting.meaning}"


def _as_json(setting: Setting) -> dict[str, object]:
    return {
        "name": setting.name,
        "variable": setting.variable,
        "type": setting.type,
        "default": setting.default,
        "required": setting.required,
        "meaning": setting.meaning,
    }
