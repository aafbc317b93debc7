"""Options that filter verdicts."""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Annotated, Final

import typer

from scoring.scorer.profile import DESCRIPTIONS
from scoring.text.language import UNDETERMINED, stated_language
from scoring.values.types import HIGHEST, LOWEST, Decision, MessageType
from streams.cli.options import no_language
from streams.cli.output import WrongUsage, say
from streams.documents.folder import is_language
from streams.explaining.explaining import Sieve

#: What people call a decision, and the page too.
_OTHER_WORDS: Final = {"held": Decision.REVIEW, "sent": Decision.AUTO_SEND}


def code_of(told: str, codes: Collection[str]) -> str:
    """Return the one of the codes that is meant, written with spaces, hyphens or capitals as well.

    Raises:
        typer.BadParameter: there is none; it lists those that are alike, or else all.
    """
    code = re.sub(r"[ -]", "_", told.strip().lower())
    code = _OTHER_WORDS.get(code, code)
    if code not in codes:
        known = ", ".join(get_close_matches(code, codes) or sorted(codes))
        raise typer.BadParameter(f"{told!r} is unknown; known: {known}")
    return code


Decisions = Annotated[
    list[str] | None,
    typer.Option(
        "--decision",
        metavar="|".join(Decision),
        parser=lambda told: code_of(told, frozenset(Decision)),
        help="Only these decisions, also as sent and held; may be repeated.",
    ),
]
MessageTypes = Annotated[
    list[str] | None,
    typer.Option(
        "--message-type",
        metavar="|".join(MessageType),
        parser=lambda told: code_of(told, frozenset(MessageType)),
        help="Only these types; may be repeated.",
    ),
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
        parser=lambda told: code_of(told, DESCRIPTIONS),
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
    message_types: Sequence[str] | None,
    languages: Sequence[str] | None,
    reasons: Sequence[str] | None,
    documents: Sequence[str] | None,
    since: datetime | None,
    until: datetime | None,
    lowest: float | None,
    highest: float | None,
) -> Sieve:
    """Make the sieve that the options ask for.

    A code of two letters that no language has is told, since it may be a slip; an answer may state it.

    Raises:
        WrongUsage: nothing could pass.
    """
    if since and until and until <= since:
        raise WrongUsage("--until must be later than --since")
    if lowest is not None and highest is not None and highest < lowest:
        raise WrongUsage("--max-score must not be below --min-score")
    return Sieve(
        message_types=frozenset(message_types or ()),
        languages=frozenset(map(_language, languages or ())),
        reasons=frozenset(reasons or ()),
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
