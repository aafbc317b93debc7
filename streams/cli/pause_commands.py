"""`truthgate pause`, `resume` and `paused`."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import product
from typing import Annotated, Any

import typer

from schemas import DecodeError, EncodeError, Pause
from schemas.records import rfc3339
from scoring.policy import PauseScope, Policy
from scoring.text.language_detection import language_code
from scoring.values.exchange import MessageType
from streams.cli.command_output import CommandFailed, UsageError, say, write_json
from streams.cli.common_options import AsJson, By, ConfigFile, Why, check_languages, operator_and_reason
from streams.cli.topic_access import OutgoingRecord, open_topics, send_each
from streams.cli.verdict_rendering import print_table
from streams.kafka.kafka_records import event_headers
from streams.kafka.topic_reader import Offsets
from streams.kafka.topics import Topics
from streams.pause.pause_state import CODEC, PauseEntry, PauseState, PauseStatus, describe_scope, pause_key
from streams.settings import Settings, load_settings

_SOURCE = "pause"


class OperatorAction:
    """The records that an operator ``by`` writes for a ``reason``, for any scope; ``at`` is aware."""

    def __init__(self, settings: Settings, by: str, reason: str, at: datetime | None = None) -> None:
        self._topic = Topics(settings.kafka.topic_prefix).controls
        self._by = by
        self._reason = reason
        self._at = at or datetime.now(UTC)

    def pause(self, scope: PauseScope) -> OutgoingRecord:
        """Return the record that pauses a scope; raises UsageError if no worker could read it."""
        return self._record(scope, PauseStatus.PAUSED)

    def resume(self, entry: PauseEntry) -> OutgoingRecord:
        """Return the record that ends a pause, in its partition; a tombstone for one that cannot be read."""
        if entry.scope is None:
            headers = event_headers(self._id(entry.key), "Pause.deleted", _SOURCE)
            return OutgoingRecord(self._topic, entry.key, None, headers, entry.partition)
        return self._record(entry.scope, PauseStatus.RESUMED, entry.partition)

    def _record(self, scope: PauseScope, status: PauseStatus, partition: int | None = None) -> OutgoingRecord:
        key = pause_key(scope)
        pause = Pause(status, scope.message_type, scope.language, self._at, self._by, self._reason)
        try:
            value = CODEC.encode(pause)
            CODEC.decode(value, Pause)  # one that workers could not read would pause everything
        except (EncodeError, DecodeError) as error:
            raise UsageError(f"the pause cannot be written: {error}") from error
        headers = event_headers(self._id(key), "Pause", _SOURCE)
        return OutgoingRecord(self._topic, key, value, headers, partition)

    def _id(self, key: bytes) -> str:
        return f"{key.decode(errors='backslashreplace')}@{rfc3339(self._at)}"


async def active_pauses(settings: Settings) -> tuple[tuple[PauseEntry, ...], Offsets]:
    """Read the pauses in force, and the offsets of later changes; raises as :func:`open_topics` does."""
    state, topic = PauseState(), Topics(settings.kafka.topic_prefix).controls
    async with open_topics(settings.kafka, topic, isolation_level="read_uncommitted") as (reader, log):
        async for records in reader.read_between(log.beginning_offsets, log.end_offsets):
            state.apply(records)
    return state.active, log.end_offsets


def entry_name(entry: PauseEntry) -> str:
    """Name the answers that a record pauses, or the offset of an unreadable one."""
    if entry.scope is None:
        return f"everything, by an unreadable record at {_location(entry)}"
    return describe_scope(entry.scope)


def entry_sentence(entry: PauseEntry) -> str:
    """Return a sentence about a record: what it pauses or resumes, since when, by whom and why."""
    if entry.error:
        return f"nothing is sent: the pause at {_location(entry)} cannot be read ({entry.error})"
    if (pause := entry.record) is None:
        return f"the record at {_location(entry)} deletes the pause of its key"
    what = "sending is resumed" if entry.resumed else "sending is paused"
    return f"{what}: {entry_name(entry)}, since {_moment(pause.at)} by {pause.by}: {pause.reason}"


def pauses_as_json(policy: Policy, entries: Iterable[PauseEntry]) -> Iterator[dict[str, Any]]:
    """Yield the pauses by the settings, then those by operators, as JSON values."""
    for scope in _own(policy):
        yield {"source": "settings", "message_type": scope.message_type, "language": scope.language}
    for entry in entries:
        if pause := entry.record:
            yield {
                "source": "operator",
                "message_type": pause.message_type,
                "language": pause.language,
                "since": rfc3339(pause.at),
                "by": pause.by,
                "reason": pause.reason,
            }
        else:
            yield {"source": "unreadable", "at": _location(entry), "error": entry.error}


def _rows(policy: Policy, entries: Iterable[PauseEntry]) -> Iterator[tuple[str, ...]]:
    """Yield the same as rows of a table."""
    for scope in _own(policy):
        yield describe_scope(scope), "", "the settings", "policy.pause"
    for entry in entries:
        pause = entry.record
        cells = (_moment(pause.at), pause.by, pause.reason) if pause else ("", "", entry.error or "")
        yield entry_name(entry), *cells


def _own(policy: Policy) -> list[PauseScope]:
    return sorted(policy.paused_scopes, key=describe_scope)


def _moment(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"


def _location(entry: PauseEntry) -> str:
    return f"{entry.partition}:{entry.offset}"


MessageTypes = Annotated[
    list[MessageType] | None,
    typer.Option("--message-type", "-t", help="Only answers to this type of question; may be repeated."),
]
Languages = Annotated[
    list[str] | None,
    typer.Option(
        "--language", "-l", metavar="CODE", help="Only answers in this language, such as nl; may be repeated."
    ),
]


def pause(
    reason: Why,
    message_type: MessageTypes = None,
    language: Languages = None,
    by: By = None,
    config: ConfigFile = None,
) -> None:
    """Stop automatic sending in all workers at once: what would be sent goes to review.

    The pause lasts until `truthgate resume`, also over restarts. What is blocked stays blocked. What a
    worker decided before it read the pause, usually within a second, is still sent.

    Example: `truthgate pause --reason "prices on the help pages are wrong" --message-type instruction`
    """
    check_languages("--language", language)
    settings = load_settings(config)
    change, scopes = _action(settings, by, reason), _scopes(message_type, language)
    asyncio.run(send_each(settings, map(change.pause, scopes)))
    say(f"sending is paused: {', '.join(map(describe_scope, scopes))}")


def resume(
    reason: Why,
    message_type: MessageTypes = None,
    language: Languages = None,
    every: Annotated[
        bool, typer.Option("--all", help="End every pause, also those that cannot be read.")
    ] = False,
    unreadable: Annotated[
        bool, typer.Option("--unreadable", help="Only remove records that no worker can read.")
    ] = False,
    by: By = None,
    config: ConfigFile = None,
) -> None:
    """Resume automatic sending: end the pause of this message type and language, or `--all`.

    What went to review meanwhile stays there: nothing is sent afterwards. Exit code 1 when there is no such
    pause, and then nothing is changed.

    Example: `truthgate resume --reason "pages are right again" --message-type instruction`
    """
    settings = load_settings(config)
    if every + unreadable + bool(message_type or language) > 1:
        raise UsageError("--all, --unreadable and --message-type or --language exclude each other")
    # An earlier release accepted codes of two letters that are no language: those must stay resumable.
    check_languages("--language", (each for each in language or () if language_code(each) is None))
    change = _action(settings, by, reason)
    wanted = [None] if unreadable else _scopes(message_type, language)
    ended, left = asyncio.run(_resume(settings, change, None if every else wanted))
    say(f"sending is resumed: {', '.join(map(entry_name, ended))}")
    own = (f"{describe_scope(scope)} (policy.pause)" for scope in settings.policy.paused_scopes)
    if names := [*map(entry_name, left), *own]:
        say(f"still paused: {', '.join(names)}")


def paused(as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Show the pauses in force: which answers, since when, by whom and why.

    Example: `truthgate paused`
    """
    settings = load_settings(config)
    policy, (entries, _) = settings.policy, asyncio.run(active_pauses(settings))
    if as_json:
        for each in pauses_as_json(policy, entries):
            write_json(each)
    elif entries or policy.paused_scopes:
        print_table(("paused", "since", "by", "why"), _rows(policy, entries))
    else:
        say("nothing is paused")


def _scopes(message_types: list[MessageType] | None, languages: list[str] | None) -> list[PauseScope]:
    kinds = dict.fromkeys(message_types) if message_types else (None,)
    spoken = dict.fromkeys(languages) if languages else (None,)
    try:
        return [PauseScope(kind, language) for kind, language in product(kinds, spoken)]
    except ValueError as error:
        raise UsageError(f"--language: {error}") from error


def _action(settings: Settings, by: str | None, reason: str) -> OperatorAction:
    """Return the action for these options; raises UsageError as :func:`operator_and_reason` does."""
    return OperatorAction(settings, *operator_and_reason(by, reason))


async def _resume(
    settings: Settings, change: OperatorAction, wanted: Sequence[PauseScope | None] | None
) -> tuple[list[PauseEntry], list[PauseEntry]]:
    """End the pauses of these scopes, or of all for None; return them, and those that are left.

    A scope of None means unreadable records. Raises CommandFailed if one of the scopes is not paused.
    """
    active, _ = await active_pauses(settings)
    chosen = [entry for entry in active if wanted is None or entry.scope in wanted]
    missing = set(wanted or ()) - {entry.scope for entry in chosen}
    if missing or not chosen:
        names = sorted(describe_scope(each) if each else "unreadable records" for each in missing)
        what = ", ".join(names) or "any answers"
        raise CommandFailed(f"nothing is paused for {what}: see `truthgate paused`")
    await send_each(settings, map(change.resume, chosen))
    return chosen, [entry for entry in active if entry not in chosen]
