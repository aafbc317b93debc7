"""Options that say which verdicts are meant, and the sieve that they make."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer

from scoring.assessing.known_rules import describe
from scoring.language import UNDETERMINED, stated_language
from scoring.values.types import HIGHEST, LOWEST, MessageType
from streams.cli.exits import WrongUsage
from streams.cli.language_codes import no_language
from streams.cli.output import say
from streams.documents.folder import is_language
from streams.explaining.sieve import Sieve

MessageTypes = Annotated[
    list[MessageType] | None, typer.Option("--message-type", help="Only these types; may be repeated.")
]
Languages = Annotated[
    list[str] | None,
    typer.Option(
        "--language",
        metavar="CODE",
        help=f"Only these, such as nl; {UNDETERMINED} is a language that is not known; may be repeated.",
    ),
]
Reasons = Annotated[
    list[str] | None,
    typer.Option(
        "--reason",
        metavar="CODE",
        help="Only these among their reasons, such as low_score, or among what could not be checked; may be "
        "repeated.",
    ),
]
DocumentIds = Annotated[
    list[str] | None,
    typer.Option("--document", metavar="ID", help="Only what was judged against these; may be repeated."),
]
LowestScore = Annotated[
    float | None, typer.Option("--min-score", min=LOWEST, max=HIGHEST, help="Only with this score or more.")
]
HighestScore = Annotated[
    float | None, typer.Option("--max-score", min=LOWEST, max=HIGHEST, help="Only with this score or less.")
]


def sieve_of(
    message_types: Sequence[MessageType] | None,
    languages: Sequence[str] | None,
    reasons: Sequence[str] | None,
    documents: Sequence[str] | None,
    since: datetime | None,
    until: datetime | None,
    lowest: float | None,
    highest: float | None,
) -> Sieve:
    """Make the sieve that the options ask for.

    A reason may be written with spaces or hyphens, as it is shown; one that is not known here is told, since
    it may be a slip. So is a code of two letters that no language has, which an answer may state.

    Raises:
        WrongUsage: nothing could pass.
    """
    if since and until and until <= since:
        raise WrongUsage("--until must be later than --since")
    if lowest is not None and highest is not None and highest < lowest:
        raise WrongUsage("--max-score must not be below --min-score")
    codes = frozenset(each.replace(" ", "_").replace("-", "_") for each in reasons or ())
    for code in sorted(codes):
        if describe(code) is None:
            say(f"no reason is called {code} here: only verdicts of another release can have it")
    spoken = frozenset(_language(each) for each in languages or ())
    return Sieve(
        message_types=frozenset(map(str, message_types or ())),
        languages=spoken,
        reasons=codes,
        documents=frozenset(documents or ()),
        since=since,
        until=until,
        lowest=lowest,
        highest=highest,
    )


def _language(given: str) -> str:
    """Give the code that verdicts have of it, ``und`` too; raises WrongUsage for what none can have."""
    if given.lower() == UNDETERMINED:
        return UNDETERMINED
    if (code := stated_language(given)) is None:
        raise WrongUsage(no_language("--language", given))
    if not is_language(code):
        say(f"no language has the code {code}: only verdicts on answers that state it can have it")
    return code
