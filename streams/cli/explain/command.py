"""The command: finds a verdict, and tells everything about it."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime
from typing import Annotated, Final

import typer
from pydantic import TypeAdapter

from scoring.policy import Policy
from scoring.values.readable import is_text
from streams.cli.exits import CommandFailed, ExitCode, WrongUsage
from streams.cli.explain.in_file import verdicts_in
from streams.cli.explain.searching import verdicts_on
from streams.cli.explain.shown import lines_of
from streams.cli.lines import Complaints
from streams.cli.moments import Since
from streams.cli.options import AsJson, ConfigFile, OptionalInputFile
from streams.cli.output import progress, write_line
from streams.cli.render import ResultConsole
from streams.explaining.explaining import explained
from streams.explaining.explanation import Explanation, Found
from streams.settings import Settings, load_settings

# What is found sooner needs no bar.
_SHOWN_AFTER_SECONDS: Final = 1.0
_EXPLANATION = TypeAdapter(Explanation)


def explain(
    wanted: Annotated[str, typer.Argument(metavar="ID", help="The answer's id, or that of its verdict.")],
    file: OptionalInputFile = None,
    since: Since = None,
    newest: Annotated[
        bool, typer.Option("--newest", help="Of repeated verdicts the newest, not the first.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Tell everything about one verdict: what was read, found, compared and decided, and what to do next.

    It is looked for in the three topics of verdicts, from the newest backwards, or in a file of verdicts.
    Of verdicts that were published again the first is told, which is the one that consumers go by, and how
    the others differ. The thresholds are told where the policy that decided is that of the settings, or as
    shipped.

    The exit code is 1 where there is no such verdict, and 3 where Kafka does not answer.

    Example: `truthgate explain a-123 --since 2d`
    """
    if not is_text(wanted):
        raise WrongUsage("ID is not UTF-8")
    settings = load_settings(config)
    complaints = Complaints(str(file))
    found = verdicts_in(file, wanted, since, complaints) if file else _searched(settings, wanted, since)
    if not found:
        where = str(file) if file else "the verdicts that are kept"
        raise CommandFailed(f"there is no {wanted} in {where}{' since that time' if since else ''}")
    told = found[-1 if newest else 0]
    others = [each for each in found if each is not told]
    explanation = explained(told, (settings.policy, Policy()), others)
    if as_json:
        write_line(_EXPLANATION.dump_json(explanation).decode())
    else:
        console = ResultConsole()
        for line in lines_of(explanation):
            console.print(line)
    raise typer.Exit(complaints.exit_code if file else ExitCode.DONE)


def _searched(settings: Settings, wanted: str, since: datetime | None) -> list[Found]:
    begun = time.monotonic()
    bar = progress("looking for it", None)

    def tell(done: int, total: int) -> None:
        if time.monotonic() - begun > _SHOWN_AFTER_SECONDS:
            bar.start()
        bar.update(bar.task_ids[0], completed=done, total=total)

    try:
        return asyncio.run(verdicts_on(settings, wanted, since, tell))
    finally:
        bar.stop()
