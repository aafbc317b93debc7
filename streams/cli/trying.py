"""``truthgate try``: one answer sent, and its verdict waited for, which shows that the whole way works."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import aclosing
from typing import Annotated

import typer

from schemas import ChatbotAnswer, Codec, Verdict, to_json
from schemas.jsonl import utc_now
from streams.cli.exits import CommandFailed
from streams.cli.options import AsJson, ConfigFile
from streams.cli.output import json_line, write_line
from streams.cli.reading import open_topics
from streams.cli.render import ResultConsole, verdict_line
from streams.cli.sending import Outgoing, open_codec, send_each
from streams.cli.tail import decoded
from streams.kafka.event_headers import event_headers
from streams.kafka.topic_reader import TopicReader
from streams.kafka.topics import Topics
from streams.settings import Settings, load_settings

_QUESTION = "Is this a test of truthgate?"
_ANSWER = "Yes, this is a test of truthgate. Nobody has to do anything about it."


def try_out(
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="How long to wait for the verdict.")
    ] = 60,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Send one answer and wait for its verdict: whether the workers judge, from topic to topic.

    Its id begins with `truthgate-try-`, and so does that of its conversation. Whoever reads the verdicts
    sees it, a review desk too. Exit code 1 when no verdict comes in time.

    Example: `truthgate try --timeout 30`
    """
    verdict = asyncio.run(_tried(load_settings(config), timeout))
    if as_json:
        write_line(json_line(to_json(verdict)))
    else:
        ResultConsole().print(verdict_line(verdict), soft_wrap=True)


async def _tried(settings: Settings, seconds: float) -> Verdict:
    """Give the verdict; CommandFailed where none comes within so many seconds of the answer."""
    codec = await open_codec(settings.encoding, ChatbotAnswer)
    topics = Topics(settings.kafka.topic_prefix)
    name = f"truthgate-try-{uuid.uuid4().hex}"
    answer = ChatbotAnswer(name, name, _QUESTION, _ANSWER, utc_now())
    headers = event_headers(answer.answer_id, "ChatbotAnswer", "try")
    record = Outgoing(topics.answers, answer.conversation_id.encode(), codec.encode(answer), headers)
    async with open_topics(settings.kafka, *topics.outputs) as (reader, log):
        reader.read_from(log.ends)
        await send_each(settings, [record])
        try:
            return await asyncio.wait_for(_verdict(reader, answer.answer_id, codec), seconds)
        except TimeoutError:
            raise CommandFailed(
                f"no verdict on {answer.answer_id} within {seconds:g} s: is a worker ready?"
            ) from None


async def _verdict(reader: TopicReader, answer_id: str, codec: Codec) -> Verdict:
    async with aclosing(reader.on_and_on()) as batches:
        async for records in batches:
            for record in records:
                if (verdict := await decoded(record, codec)) and verdict.answer_id == answer_id:
                    return verdict
    raise AssertionError("what comes has no end")
