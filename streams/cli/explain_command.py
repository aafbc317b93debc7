"""`truthgate explain`: find a verdict and explain it."""

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer
from aiokafka import ConsumerRecord
from pydantic import TypeAdapter

from schemas import Codec, DecodeError, Verdict
from scoring.policy import Policy
from scoring.values.exchange import is_encodable
from streams.cli.command_errors import InputErrors
from streams.cli.command_files import read_records
from streams.cli.command_output import CommandFailed, UsageError, progress_bar, write_line
from streams.cli.common_options import AsJson, ConfigFile, OptionalInputFile, Since
from streams.cli.explanation_rendering import render_explanation
from streams.cli.topic_reading import SLACK, offsets_at, open_topics
from streams.cli.verdict_rendering import ResultConsole
from streams.explaining.explanation import Explanation, LocatedVerdict, VerdictLocation, locate_verdict
from streams.explaining.verdict_explainer import explain_verdict
from streams.kafka.schema_topic import create_codec
from streams.kafka.topic_reader import Offsets
from streams.kafka.topics import Topics
from streams.settings import Settings, load_settings

#: Called with the number of offsets read so far, and of all to read.
OnProgress = Callable[[int, int], None]

#: Offsets per partition that are read first; each step back doubles, so that few requests find old verdicts.
_FIRST_STEP: Final = 2_000
_MAX_STEP: Final = 50_000
#: Repeats follow a crash within minutes, and an answer that waited for a person or a document within hours.
_MAX_REPEAT_DELAY: Final = timedelta(days=1)

_PROGRESS_AFTER_SECONDS: Final = 1.0
_EXPLANATION = TypeAdapter(Explanation)


def explain(
    wanted: Annotated[str, typer.Argument(metavar="ID", help="The id of the answer or of its verdict.")],
    file: OptionalInputFile = None,
    since: Since = None,
    newest: Annotated[
        bool, typer.Option("--newest", help="Explain the newest of repeated verdicts, not the first.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Explain one verdict: what was read, retrieved, compared and decided, and what to do next.

    The verdict is searched in the three verdict topics, from the newest backwards, or in a file. Of repeated
    verdicts the first is explained, which consumers act on, with the differences of the others. Thresholds
    are shown if the verdict's policy is that of the settings or the shipped one.

    The exit code is 1 if no such verdict exists, and 3 if Kafka does not answer.

    Example: `truthgate explain a-123 --since 2d`
    """
    if not is_encodable(wanted):
        raise UsageError("ID is not UTF-8")
    settings = load_settings(config)
    errors = InputErrors(file)
    found = find_in_file(file, wanted, since, errors) if file else _search(settings, wanted, since)
    if not found:
        where = str(file) if file else "the verdict topics"
        raise CommandFailed(f"no verdict {wanted} in {where}{' since that time' if since else ''}")
    chosen = found[-1 if newest else 0]
    others = [each for each in found if each is not chosen]
    explanation = explain_verdict(chosen, (settings.policy, Policy()), others)
    if as_json:
        write_line(_EXPLANATION.dump_json(explanation).decode())
    else:
        console = ResultConsole()
        for line in render_explanation(explanation):
            console.print(line)
    raise typer.Exit(errors.exit_code)


def _search(settings: Settings, wanted: str, since: datetime | None) -> list[LocatedVerdict]:
    started = time.monotonic()
    bar = progress_bar("searching", None)

    def on_progress(done: int, total: int) -> None:
        if time.monotonic() - started > _PROGRESS_AFTER_SECONDS:
            bar.start()
        bar.update(bar.task_ids[0], completed=done, total=total)

    try:
        return asyncio.run(find_on_topics(settings, wanted, since, on_progress))
    finally:
        bar.stop()


def find_in_file(
    path: Path, wanted: str, since: datetime | None, errors: InputErrors
) -> list[LocatedVerdict]:
    """Find the verdicts with this answer id or verdict id, in the order of the file; report bad lines.

    Raises:
        CommandFailed: the file cannot be read.
    """
    return [
        LocatedVerdict(verdict, VerdictLocation(file=str(path), line=number))
        for number, verdict in errors.good_lines(read_records(path, Verdict))
        if wanted in {verdict.answer_id, verdict.verdict_id} and (since is None or since <= verdict.scored_at)
    ]


async def find_on_topics(
    settings: Settings, wanted: str, since: datetime | None, on_progress: OnProgress
) -> list[LocatedVerdict]:
    """Find the verdicts with this answer id or verdict id, sorted by time.

    Reads from the end back to ``since``, or to the beginning. Once a verdict is found, it reads back only
    to where repeats of it can be: to the time of the answer, at most a day before the verdict.

    Raises:
        ServiceUnreachable: Kafka does not answer.
        UsageError: a topic does not exist.
        KafkaError: the cluster refuses.
        RegistryUnreachable: the schema registry does not answer.
    """
    codec = create_codec(settings)
    topics = Topics(settings.kafka.topic_prefix).outputs
    found: list[LocatedVerdict] = []
    async with open_topics(settings.kafka, *topics) as (reader, log):
        begins = await offsets_at(reader, log, since - SLACK) if since else log.beginning_offsets
        ends, step, total = log.end_offsets, _FIRST_STEP, _size(begins, log.end_offsets)
        while _size(begins, ends):
            starts = {at: max(begins[at], end - step) for at, end in ends.items()}
            async with aclosing(reader.read_between(starts, ends)) as batches:
                async for records in batches:
                    found += [each for record in records if (each := await _match(record, wanted, codec))]
            ends, step = starts, min(2 * step, _MAX_STEP)
            on_progress(total - _size(begins, ends), total)
            if found:
                earliest = min(found, key=_written_at)
                oldest = max(earliest.verdict.produced_at, _written_at(earliest) - _MAX_REPEAT_DELAY)
                first = await offsets_at(reader, log, oldest - SLACK)
                begins = {at: max(begin, first[at]) for at, begin in begins.items()}
    return sorted(found, key=_written_at)


async def _match(record: ConsumerRecord, wanted: str, codec: Codec) -> LocatedVerdict | None:
    # Avro has texts in UTF-8: a record without these bytes need not be decoded.
    if wanted.encode() not in (record.value or b""):
        return None
    await codec.lookup(record.value)
    try:
        verdict = codec.decode(record.value, Verdict)
    except DecodeError:
        return None  # not a verdict, or one that only a newer release can read
    return locate_verdict(record, verdict) if wanted in {verdict.answer_id, verdict.verdict_id} else None


def _written_at(found: LocatedVerdict) -> datetime:
    return found.written_at or found.verdict.scored_at


def _size(begins: Offsets, ends: Offsets) -> int:
    return sum(max(0, end - begins[at]) for at, end in ends.items())
