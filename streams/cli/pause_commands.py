"""`truthgate hold`, `resume` and `holds`."""

import asyncio
import getpass
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import product
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from schemas import DecodeError, EncodeError, Hold
from schemas.records import rfc3339
from scoring.policy import PauseScope, Policy
from scoring.text.language_detection import language_code
from scoring.values.exchange import MessageType
from streams.cli.command_output import CommandFailed, UsageError, json_line, printable, say, write_line
from streams.cli.common_options import AsJson, ConfigFile, check_languages
from streams.cli.record_sender import OutgoingRecord, send_each
from streams.cli.topic_reading import open_topics
from streams.cli.verdict_rendering import ResultConsole
from streams.kafka.kafka_records import event_headers
from streams.kafka.topic_reader import Offsets
from streams.kafka.topics import Topics
from streams.pause.pause_state import CODEC, PauseEntry, PauseState, PauseStatus, describe_scope, pause_key
from streams.settings import Settings, load_settings

_SOURCE = "hold"


class OperatorAction:
    """What an operator says, of whatever answers.

    Args:
        settings: name the topic.
        by: who says it.
        reason: why.
        at: when, aware.
    """

    def __init__(self, settings: Settings, by: str, reason: str, at: datetime | None = None) -> None:
        self._topic = Topics(settings.kafka.topic_prefix).controls
        self._by = by
        self._reason = reason
        self._at = at or datetime.now(UTC)

    def pause(self, scope: PauseScope) -> OutgoingRecord:
        """Make the record that holds these answers; raises UsageError for what no worker could read."""
        return self._record(scope, PauseStatus.PAUSED)

    def resume(self, entry: PauseEntry) -> OutgoingRecord:
        """Make the record that undoes this one, in its partition; one that cannot be read is deleted."""
        if entry.scope is None:
            headers = event_headers(self._id(entry.key), "Hold.deleted", _SOURCE)
            return OutgoingRecord(self._topic, entry.key, None, headers, entry.partition)
        return self._record(entry.scope, PauseStatus.RESUMED, entry.partition)

    def _record(self, scope: PauseScope, status: PauseStatus, partition: int | None = None) -> OutgoingRecord:
        key = pause_key(scope)
        hold = Hold(status, scope.message_type, scope.language, self._at, self._by, self._reason)
        headers = event_headers(self._id(key), "Hold", _SOURCE)
        return OutgoingRecord(self._topic, key, _encode(hold), headers, partition)

    def _id(self, key: bytes) -> str:
        return f"{key.decode(errors='backslashreplace')}@{rfc3339(self._at)}"


def _encode(hold: Hold) -> bytes:
    """Write a record; one that workers could not read would hold everything, and is refused here."""
    try:
        value = CODEC.encode(hold)
        CODEC.decode(value, Hold)
    except (EncodeError, DecodeError) as error:
        raise UsageError(f"this cannot be said: {error}") from error
    return value


async def active_pauses(settings: Settings) -> tuple[PauseEntry, ...]:
    """Read what operators hold now; raises as :func:`open_topics` does."""
    held, _ = await active_pauses_and_offsets(settings)
    return held


async def active_pauses_and_offsets(settings: Settings) -> tuple[tuple[PauseEntry, ...], Offsets]:
    """Read what operators hold now, and where what changes it begins; raises as :func:`open_topics` does."""
    board, topic = PauseState(), Topics(settings.kafka.topic_prefix).controls
    async with open_topics(settings.kafka, topic, isolation_level="read_uncommitted") as (reader, log):
        async for records in reader.read_between(log.beginning_offsets, log.end_offsets):
            board.apply(records)
    return board.active, log.end_offsets


def entry_name(entry: PauseEntry) -> str:
    """Name what a record holds: which answers, or where it stands that cannot be read."""
    return (
        describe_scope(entry.scope)
        if entry.scope
        else f"everything, by an unreadable record at {_location(entry)}"
    )


def entry_sentence(entry: PauseEntry) -> str:
    """Say what a record holds or lets go, since when, who says so and why."""
    if entry.error:
        return (
            f"nothing is sent: the record of the holds at {_location(entry)} cannot be read ({entry.error})"
        )
    if (said := entry.record) is None:
        return f"the record of the holds at {_location(entry)} takes away what was under its key"
    what = "sending goes on" if entry.resumed else "sending is held"
    return f"{what}: {entry_name(entry)}, since {_moment(said.at)} by {said.by}: {said.reason}"


def pauses_as_json(policy: Policy, held: Iterable[PauseEntry]) -> Iterator[dict[str, Any]]:
    """Describe what the settings hold, and after it what operators do, as values of JSON."""
    for scope in _own(policy):
        yield {"source": "settings", "message_type": scope.message_type, "language": scope.language}
    for entry in held:
        if said := entry.record:
            of = {"message_type": said.message_type, "language": said.language}
            told = {"since": rfc3339(said.at), "by": said.by, "reason": said.reason}
            yield {"source": "operator", **of, **told}
        else:
            yield {"source": "unreadable", "at": _location(entry), "error": entry.error}


def pause_table(policy: Policy, held: Iterable[PauseEntry]) -> Table:
    """Lay out the same for people."""
    laid_out = Table("held", "since", "by", "why", box=None, pad_edge=False)
    for scope in _own(policy):
        laid_out.add_row(describe_scope(scope), "", "the settings", "policy.hold")
    for entry in held:
        said = entry.record
        cells = (_moment(said.at), said.by, said.reason) if said else ("", "", entry.error or "")
        laid_out.add_row(entry_name(entry), *(Text(printable(cell)) for cell in cells))
    return laid_out


def _own(policy: Policy) -> list[PauseScope]:
    return sorted(policy.paused_scopes, key=describe_scope)


def _moment(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"


def _location(entry: PauseEntry) -> str:
    return f"{entry.partition}:{entry.offset}"


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
    change = OperatorAction(settings, _who(by), _why(reason))
    scopes = _scopes(message_type, language)
    records = [change.pause(scope) for scope in scopes]
    asyncio.run(send_each(settings, records))
    say(f"sending is held: {', '.join(map(describe_scope, scopes))}")


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
        raise UsageError("--all, --unreadable and --message-type or --language exclude each other")
    # A code of two letters that is none may be held by an earlier release, which took it.
    check_languages("--language", (each for each in language or () if language_code(each) is None))
    change = OperatorAction(settings, _who(by), _why(reason))
    wanted = [None] if unreadable else _scopes(message_type, language)
    gone, left = asyncio.run(_resume(settings, change, None if every else wanted))
    say(f"sending goes on: {', '.join(map(entry_name, gone))}")
    own = (f"{describe_scope(scope)} (policy.hold)" for scope in settings.policy.paused_scopes)
    if names := [*map(entry_name, left), *own]:
        say(f"still held: {', '.join(names)}")


def holds(as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Show what is held: which answers, since when, by whom and why.

    Example: `truthgate holds`
    """
    settings = load_settings(config)
    policy, held = settings.policy, asyncio.run(active_pauses(settings))
    if as_json:
        for each in pauses_as_json(policy, held):
            write_line(json_line(each))
    elif held or policy.paused_scopes:
        ResultConsole().print(pause_table(policy, held))
    else:
        say("nothing is held")


def _scopes(message_types: list[MessageType] | None, languages: list[str] | None) -> list[PauseScope]:
    kinds = dict.fromkeys(message_types) if message_types else (None,)
    spoken = dict.fromkeys(languages) if languages else (None,)
    try:
        return [PauseScope(kind, language) for kind, language in product(kinds, spoken)]
    except ValueError as error:
        raise UsageError(f"--language: {error}") from error


def _why(reason: str) -> str:
    if not (said := reason.strip()):
        raise UsageError("--reason is empty: say why")
    return said


def _who(by: str | None) -> str:
    if by is not None:
        if not (said := by.strip()):
            raise UsageError("--by is empty: say who")
        return said
    try:
        return getpass.getuser()
    except (KeyError, OSError) as error:  # in a container there may be no user of that number
        raise UsageError("the user has no name here: say who with --by") from error


async def _resume(
    settings: Settings, change: OperatorAction, wanted: Sequence[PauseScope | None] | None
) -> tuple[list[PauseEntry], list[PauseEntry]]:
    """Let go what is wanted, everything for None; return what that was, and what is left.

    A scope of None stands for what cannot be read. Raises CommandFailed where one of them is not held.
    """
    held = await active_pauses(settings)
    chosen = [entry for entry in held if wanted is None or entry.scope in wanted]
    missing = set(wanted or ()) - {entry.scope for entry in chosen}
    if missing or not chosen:
        names = sorted(describe_scope(each) if each else "what is unreadable" for each in missing)
        raise CommandFailed(f"no hold is on {', '.join(names) or 'anything'}: see `truthgate holds`")
    await send_each(settings, map(change.resume, chosen))
    return chosen, [entry for entry in held if entry not in chosen]
