"""`truthgate replay`: publish a recorded chat log to the answers topic."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from schemas import ChatbotAnswer
from schemas.jsonl import utc_now
from streams.cli.async_input import aiter_in_thread
from streams.cli.command_errors import InputErrors, SourceLocation
from streams.cli.command_files import count_lines, read_records
from streams.cli.command_output import UsageError, plural, progress_bar, say
from streams.cli.common_options import ConfigFile, InputFile
from streams.cli.record_sender import OutgoingRecord, open_codec, open_sender, send_all
from streams.kafka.kafka_records import event_headers
from streams.kafka.topics import Topics
from streams.settings import Settings, load_settings

# Marks a missing time: earlier than any that a record may have.
_UNKNOWN_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast to send: answers per second, a multiple of the recorded speed, or without delay."""

    rate: float | None = None
    speed: float | None = None

    def due(self, index: int, recorded_seconds: float) -> float:
        """Return when to send the answer, in seconds after the first one.

        Args:
            index: of the answer, from 0.
            recorded_seconds: how long after the first one it was produced; negative if out of order,
                which is due at once.
        """
        if self.rate:
            return index / self.rate
        return max(0.0, recorded_seconds) / self.speed if self.speed else 0.0


def replay(
    file: InputFile,
    rate: Annotated[float | None, typer.Option(min=0.001, metavar="N", help="Answers per second.")] = None,
    speed: Annotated[
        float | None,
        typer.Option(
            min=0.001, metavar="X", help="Multiple of the recorded speed (produced_at); 1 is real time."
        ),
    ] = None,
    config: ConfigFile = None,
) -> None:
    """Publish a JSONL chat log to the answers topic, by default as fast as possible.

    Each answer is acknowledged by all in-sync replicas. A malformed line is named on standard error, the
    others are sent, and the exit code is 1.

    Example: `truthgate replay chats.jsonl --rate 5`
    """
    if rate and speed:
        raise UsageError("--rate and --speed exclude each other")
    settings = load_settings(config)
    errors = InputErrors(file)
    with progress_bar("replaying", count_lines(file)) as bar:
        sent = asyncio.run(_replay(file, settings, Pace(rate, speed), errors, bar))
    say(f"{plural(sent, 'answer')} sent to {Topics(settings.kafka.topic_prefix).answers}")
    raise typer.Exit(errors.exit_code)


async def _replay(file: Path, settings: Settings, pace: Pace, errors: InputErrors, bar: Progress) -> int:
    topic = Topics(settings.kafka.topic_prefix).answers

    def outgoing(answer: ChatbotAnswer) -> OutgoingRecord:
        headers = event_headers(answer.answer_id, "ChatbotAnswer", "replay")
        return OutgoingRecord(topic, answer.conversation_id.encode(), codec.encode(answer), headers)

    async with (
        open_sender(settings, topic) as sender,
        aclosing(_paced_answers(file, pace, errors, bar)) as answers,
    ):
        codec = await open_codec(settings, ChatbotAnswer)
        return await send_all(answers, outgoing, sender, errors)


async def _paced_answers(
    file: Path, pace: Pace, errors: InputErrors, bar: Progress
) -> AsyncGenerator[tuple[SourceLocation, ChatbotAnswer], None]:
    """Yield each good line when it is due."""
    clock = (lambda: _UNKNOWN_TIME) if pace.speed else utc_now
    good = errors.good_lines(read_records(file, ChatbotAnswer, bar, clock))
    async with aclosing(aiter_in_thread(good)) as numbered:
        loop = asyncio.get_running_loop()
        start, first, index = loop.time(), None, 0
        async for number, answer in numbered:
            if answer.produced_at == _UNKNOWN_TIME:
                errors.report(number, "produced_at: is missing, and --speed needs it")
                continue
            first = first or answer.produced_at
            due = start + pace.due(index, (answer.produced_at - first).total_seconds())
            index += 1
            await asyncio.sleep(due - loop.time())
            yield number, answer
