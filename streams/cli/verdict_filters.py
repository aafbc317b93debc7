"""Options that filter verdicts."""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Annotated, Final

import typer

from scoring.scorer.profile import DESCRIPTIONS
from scoring.text.language_detection import UNDETERMINED, language_code
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, Decision, MessageType
from streams.cli.command_output import UsageError, say
from streams.cli.common_options import unknown_language_message
from streams.documents.folder import is_language_tag
from streams.explaining.verdict_explainer import VerdictFilter

#: What people call a decision, and the page too.
_OTHER_WORDS: Final = {"held": Decision.REVIEW, "sent": Decision.AUTO_SEND}


def parse_code(text: str, codes: Collection[str]) -> str:
    """Return the one of the codes that is meant, written with spaces, hyphens or capitals as well.

    Raises:
        typer.BadParameter: there is none; it lists those that are alike, or else all.
    """
    code = re.sub(r"[ -]", "_", text.strip().lower())
    code = _OTHER_WORDS.get(code, code)
    if code not in codes:
        known = ", ".join(get_close_matches(code, codes) or sorted(codes))
        raise typer.BadParameter(f"{text!r} is unknown; known: {known}")
    return code


Decisions = Annotated[
    list[str] | None,
    typer.Option(
        "--decision",
        metavar="|".join(Decision),
        parser=lambda told: parse_code(told, frozenset(Decision)),
        help="Only these decisions, also as sent and held; may be repeated.",
    ),
]
MessageTypes = Annotated[
    list[str] | None,
    typer.Option(
        "--message-type",
        metavar="|".join(MessageType),
        parser=lambda told: parse_code(told, frozenset(MessageType)),
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
        parser=lambda told: parse_code(told, DESCRIPTIONS),
        help="Only these among their reasons, such as low_score, or among what could not be checked; may be "
        "repeated.",
    ),
]
DocumentIds = Annotated[
    list[str] | None,
    typer.Option("--document", metavar="ID", help="Only what was judged against these; may be repeated."),
]
LowestScore = Annotated[
    float | None,
    typer.Option("--min-score", min=MIN_SCORE, max=MAX_SCORE, help="Only with this score or more."),
]
HighestScore = Annotated[
    float | None,
    typer.Option("--max-score", min=MIN_SCORE, max=MAX_SCORE, help="Only with this score or less."),
]


def make_filter(
    message_types: Sequence[str] | None,
    languages: Sequence[str] | None,
    reasons: Sequence[str] | None,
    documents: Sequence[str] | None,
    since: datetime | None,
    until: datetime | None,
    lowest: float | None,
    highest: float | None,
) -> VerdictFilter:
    """Make the sieve that the options ask for.

    A code of two letters that no language has is told, since it may be a slip; an answer may state it.

    Raises:
        UsageError: nothing could pass.
    """
    if since and until and until <= since:
        raise UsageError("--until must be later than --since")
    if lowest is not None and highest is not None and highest < lowest:
        raise UsageError("--max-score must not be below --min-score")
    return VerdictFilter(
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
    """Give the code that verdicts have of it, ``und`` too; raises UsageError for what none can have."""
    if given.lower() == UNDETERMINED:
        return UNDETERMINED
    if (code := language_code(given)) is None:
        raise UsageError(unknown_language_message("--language", given))
    if not is_language_tag(code):
        say(f"no language has the code {code}: only verdicts on answers that state it can have it")
    return code
