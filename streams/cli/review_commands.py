"""`truthgate reviews`: reviews of other tools into the topic, and reviews and rated answers out of it."""

import asyncio
import csv
import json
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import typer
from aiokafka.errors import KafkaError

from schemas import ChatbotAnswer, DecodeError, Review, Verdict, to_json
from schemas.catalogue import record_projection
from schemas.jsonl import FORMULA_BEGINS
from schemas.records import Identifier
from streams.cli.command_files import check_not_overwriting, count_lines, open_output, read_records
from streams.cli.command_output import ExitCode, InputErrors, json_line, plural, progress_bar, say
from streams.cli.common_options import ConfigFile, InputFile
from streams.cli.topic_access import decode_record, open_topics, publish
from streams.desk.judgements import text_hash
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics
from streams.observability.failures import InfrastructureFailure
from streams.pipeline.verdict import verdict_id
from streams.settings import Settings, load_settings

app = typer.Typer(help="Import what people decided or rated with other tools, and export all of it.")

R = TypeVar("R", ChatbotAnswer, Review)
_COLUMNS: Final = tuple(Review.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class VerdictIds:
    """The ids of a verdict that its reviews have too, and its answer."""

    verdict_id: Identifier
    answer_id: Identifier
    conversation_id: Identifier
    answer: str


_VERDICT_IDS: Final = record_projection(Verdict, VerdictIds)


@app.command("import")
def import_reviews(file: InputFile, config: ConfigFile = None) -> None:
    """Publish the reviews of a file to `reviews`: JSONL, or CSV whose first line names the fields.

    A line needs verdict_id, answer_id, conversation_id and produced_at of the verdict, and reviewer; without
    outcome it is a rating alone (none), and send and send_edited need the text that is sent. Every bad line
    is named on standard error, and then nothing is published: so is one whose answer_id or conversation_id is
    not that of its verdict, whose text is not the answer although it says send, or that decides otherwise
    than a line before. A line without review_id gets one that is made
    of its fields: a file that is imported again adds no review. The first outcome of a verdict counts, so a
    later one that is imported has no effect.

    Example: `truthgate reviews import ratings.csv`
    """
    settings = load_settings(config)
    errors = InputErrors(file)
    with progress_bar("reading", count_lines(file)) as bar:
        located = list(errors.good_lines(read_records(file, Review, bar)))
    verdicts = asyncio.run(_verdict_ids(settings, {each.verdict_id for _, each in located}))
    decided: dict[str, tuple[int, Review]] = {}
    for number, review in located:
        if misfit := misfit_of(review, verdicts.get(review.verdict_id)):
            errors.report(number, misfit)
        elif review.is_final:
            first, other = decided.setdefault(review.verdict_id, (number, review))
            if (review.outcome, review.text) != (other.outcome, other.text):
                errors.report(number, f"outcome: line {first} decides otherwise about the same verdict")
    if errors.count:
        say(f"nothing was imported: {plural(errors.count, 'bad line')}")
        raise typer.Exit(errors.exit_code)
    if not located:
        raise typer.Exit(ExitCode.BAD_INPUT)
    topic = Topics(settings.kafka.topic_prefix).reviews
    try:
        sent = asyncio.run(publish(settings, Review, located, "reviews", errors))
    except (InfrastructureFailure, ServiceUnreachable, KafkaError):
        say(f"not all of {plural(len(located), 'review')} may be on {topic}: import the file again")
        raise
    say(f"{sent} of {plural(len(located), 'review')} published to {topic}")
    raise typer.Exit(errors.exit_code)


def misfit_of(review: Review, verdict: VerdictIds | None) -> str | None:
    """Return what of a review is not that of its verdict, or None; a ``verdict`` of None is not on Kafka."""
    if verdict is None:
        is_derived = review.verdict_id == verdict_id(review.answer_id)
        return None if is_derived else "verdict_id: no verdict has it, and it is not that of answer_id"
    for name in ("answer_id", "conversation_id"):
        if getattr(review, name) != (actual := getattr(verdict, name)):
            return f"{name}: the verdict has {actual}"
    if review.outcome == "send" and text_hash(review.text or "") != text_hash(verdict.answer):
        return "text: send is for the answer as it is, send_edited for another text"
    return None


async def _verdict_ids(settings: Settings, wanted: set[str]) -> dict[str, VerdictIds]:
    """Return the ids of these verdicts, so far as Kafka has them."""
    codec, found = create_codec(settings), dict[str, VerdictIds]()
    async with (
        open_topics(settings.kafka, *Topics(settings.kafka.topic_prefix).outputs) as (reader, log),
        aclosing(reader.read_between(log.beginning_offsets, log.end_offsets)) as batches,
    ):
        number = sum(log.end_offsets.values()) - sum(log.beginning_offsets.values())
        with progress_bar("comparing with verdicts", number) as bar:
            async for records in batches:
                for record in records:
                    with suppress(DecodeError):  # no verdict that a review could be of
                        await codec.lookup(record.value)
                        each = codec.decode_projection(record.value, _VERDICT_IDS)
                        if each.verdict_id in wanted:
                            found[each.verdict_id] = each
                bar.advance(bar.task_ids[0], len(records))
    return found


@app.command("export")
def export_reviews(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", dir_okay=False, metavar="FILE", help="Instead of standard output."),
    ] = None,
    form: Annotated[
        Literal["jsonl", "csv", "rated"],
        typer.Option(
            "--format",
            help="The reviews as JSONL or CSV, which `import` reads, or rated answers as JSONL, which "
            "`evaluate` reads.",
        ),
    ] = "jsonl",
    config: ConfigFile = None,
) -> None:
    """Write the reviews on `reviews`, or the answers that they rate.

    Each review is written once; later outcomes of a verdict, which do not count, are left out. A rated
    answer is that of `answers`, with the rating and label of its first reviewer, and the rating of the
    second one as rating_second. Answers that Kafka has deleted are counted on standard error, and the exit
    code is 1.

    Example: `truthgate reviews export --format rated --output rated.jsonl`
    """
    check_not_overwriting(output, [config])
    raise typer.Exit(asyncio.run(_export(load_settings(config), output, form)))


async def _export(settings: Settings, output: Path | None, form: str) -> int:
    reviews = await _counted_reviews(settings)
    lines: Iterable[str] = (json_line(to_json(each)) for each in reviews)
    missing = 0
    if form == "rated":
        ratings = _ratings(reviews)
        rated = [each async for each in _rated_answers(settings, ratings)]
        missing = len(ratings) - len(rated)
        lines = map(json_line, rated)
    with open_output(output) as file:
        if form == "csv":
            rows = csv.writer(file)
            rows.writerow(_COLUMNS)
            rows.writerows(map(_cells, reviews))
        else:
            file.writelines(f"{line}\n" for line in lines)
    if missing:
        say(f"{plural(missing, 'rated answer')} no longer on {Topics(settings.kafka.topic_prefix).answers}")
    return ExitCode.BAD_INPUT if missing else ExitCode.DONE


async def _counted_reviews(settings: Settings) -> list[Review]:
    """Return each review once, in the order of the topic, without outcomes that do not count."""
    found: dict[str, Review] = {}
    topic = Topics(settings.kafka.topic_prefix).reviews
    async with aclosing(_records(settings, topic, Review)) as reviews:
        async for each in reviews:
            key = f"outcome {each.verdict_id}" if each.is_final else f"rating {each.review_id}"
            found.setdefault(key, each)
    return list(found.values())


def _ratings(reviews: Iterable[Review]) -> dict[str, dict[str, Any]]:
    """Return what reviewers say of each answer, by its id."""
    found: dict[str, dict[str, Review]] = defaultdict(dict)
    for each in reviews:
        if each.rating or each.label:
            found[each.answer_id].setdefault(each.person, each)
    ratings = {}
    for answer_id, by_reviewer in found.items():
        first, *others = by_reviewer.values()
        second = others[0].rating if others else None
        values = {"rating": first.rating, "label": first.label, "rating_second": second}
        ratings[answer_id] = {name: value for name, value in values.items() if value}
    return ratings


async def _rated_answers(
    settings: Settings, ratings: dict[str, dict[str, Any]]
) -> AsyncGenerator[dict[str, Any], None]:
    topic = Topics(settings.kafka.topic_prefix).answers
    seen = set()
    async with aclosing(_records(settings, topic, ChatbotAnswer)) as answers:
        async for each in answers:
            if each.answer_id in ratings and each.answer_id not in seen:
                seen.add(each.answer_id)
                yield to_json(each) | ratings[each.answer_id]


async def _records(settings: Settings, topic: str, record_type: type[R]) -> AsyncGenerator[R, None]:
    """Yield the readable records of a topic up to its present end; others are reported."""
    codec = create_codec(settings)
    async with (
        open_topics(settings.kafka, topic) as (reader, log),
        aclosing(reader.read_between(log.beginning_offsets, log.end_offsets)) as batches,
    ):
        async for records in batches:
            for record in records:
                if (found := await decode_record(record, codec, record_type)) is not None:
                    yield found


def _cells(review: Review) -> list[str]:
    values = to_json(review)
    return [_cell(values[name]) for name in _COLUMNS]


def _cell(value: Any) -> str:
    if value is None or value == []:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # A spreadsheet would run it.
    return f"'{text}" if text.startswith(FORMULA_BEGINS) else text
