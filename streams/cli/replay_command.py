"""``truthgate replay``: publish a recorded chat log to the answers topic."""

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
from streams.cli.command_files import InputErrors, SourceLocation, count_lines, read_records
from streams.cli.command_output import UsageError, plural, progress_bar, say
from streams.cli.common_options import ConfigFile, InputFile
from streams.cli.record_sender import OutgoingRecord, open_codec, open_sender, send_all
from streams.kafka.kafka_records import event_headers
from streams.kafka.topics import Topics
from streams.settings import Settings, load_settings

# Stands for a time that is not given: earlier than any that a record may have.
_UNKNOWN_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast to send: so many a second, so many times as fast as recorded, or at once."""

    rate: float | None = None
    speed: float | None = None

    def due(self, index: int, recorded_seconds: float) -> float:
        """Say when to send, in seconds after the first: ``index`` counts from 0.

        ``recorded_seconds`` is how long after the first the answer was produced; one that is out
        of order is due at once.
        """
        if self.rate:
            return index / self.rate
        return max(0.0, recorded_seconds) / self.speed if self.speed else 0.0


def replay(
    file: InputFile,
    rate: Annotated[float | None, typer.Option(min=0.001, metavar="N", help="Answers a second.")] = None,
    speed: Annotated[
        float | None,
        typer.Option(min=0.001, metavar="X", help="Times the recorded pace (produced_at); 1 is real time."),
    ] = None,
    config: ConfigFile = None,
) -> None:
    """Publish a JSONL chat log to the answers topic, as fast as it goes unless told otherwise.

    Each answer is awaited until all in-sync replicas have it. A malformed line is named on
    standard error, the rest is sent, and the exit code is 1.

    Example: `truthgate replay chats.jsonl --rate 5`
    """
    if rate and speed:
        raise UsageError("--rate and --speed exclude each other")
    settings = load_settings(config)
    complaints = InputErrors(str(file))
    with progress_bar("replaying", count_lines(file)) as bar:
        sent = asyncio.run(_replay(file, settings, Pace(rate, speed), complaints, bar))
    say(f"{plural(sent, 'answer')} sent to {Topics(settings.kafka.topic_prefix).answers}")
    raise typer.Exit(complaints.exit_code)


async def _replay(file: Path, settings: Settings, pace: Pace, complaints: InputErrors, bar: Progress) -> int:
    codec = await open_codec(settings.encoding, ChatbotAnswer)
    topic = Topics(settings.kafka.topic_prefix).answers

    def outgoing(answer: ChatbotAnswer) -> OutgoingRecord:
        headers = event_headers(answer.answer_id, "ChatbotAnswer", "replay")
        return OutgoingRecord(topic, answer.conversation_id.encode(), codec.encode(answer), headers)

    async with (
        open_sender(settings, topic) as sender,
        aclosing(_answers(file, pace, complaints, bar)) as answers,
    ):
        return await send_all(answers, outgoing, sender, complaints)


async def _answers(
    file: Path, pace: Pace, complaints: InputErrors, bar: Progress
) -> AsyncGenerator[tuple[SourceLocation, ChatbotAnswer], None]:
    """Yield the good lines, each when it is due."""
    clock = (lambda: _UNKNOWN_TIME) if pace.speed else utc_now
    good = complaints.good_lines(read_records(file, ChatbotAnswer, bar, clock))
    async with aclosing(aiter_in_thread(good)) as numbered:
        schedule = _Schedule(pace, asyncio.get_running_loop())
        async for number, answer in numbered:
            if answer.produced_at == _UNKNOWN_TIME:
                complaints.report(number, "has no produced_at, which --speed needs")
                continue
            await schedule.wait_for_turn(answer.produced_at)
            yield number, answer


class _Schedule:
    def __init__(self, pace: Pace, loop: asyncio.AbstractEventLoop) -> None:
        self._pace = pace
        self._loop = loop
        self._start = loop.time()
        self._first: datetime | None = None
        self._index = 0

    async def wait_for_turn(self, produced_at: datetime) -> None:
        self._first = self._first or produced_at
        due = self._start + self._pace.due(self._index, (produced_at - self._first).total_seconds())
        self._index += 1
        await asyncio.sleep(due - self._loop.time())
