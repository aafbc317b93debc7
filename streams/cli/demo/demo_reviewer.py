"""The simulated reviewer of the demo: decides at the desk as a person does, until a person does so."""

import asyncio
import re
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import Final

import httpx2

from schemas import DecodeError, Review
from streams.cli.topic_access import TimeRange, follow
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics
from streams.settings import Settings

_NAME: Final = "Simulated reviewer"
_SECONDS: Final = 3.0
_TIMEOUT_SECONDS: Final = 10.0
_FIELD: Final = re.compile(r'name="(form_token|verdict_id)" value="([^"]*)"')
_CONTRADICTED: Final = 'class="claim contradicted"'


async def review_until_a_person_does(settings: Settings, address: str, tell: Callable[[str], None]) -> None:
    """Decide about an answer every three seconds: reject what a document contradicts, send the rest."""
    reviewing = asyncio.create_task(_review(address))
    try:
        await _first_person(settings)
    finally:
        reviewing.cancel()
    tell("the simulated reviewer has stopped: you decide")


async def _review(address: str) -> None:
    async with httpx2.AsyncClient(
        base_url=address, follow_redirects=True, timeout=_TIMEOUT_SECONDS, trust_env=False
    ) as client:
        while True:
            with suppress(httpx2.HTTPError):  # the desk starts
                await client.post("/login", data={"name": _NAME})
                while True:
                    await asyncio.sleep(_SECONDS)
                    page = (await client.get("/")).text
                    found = dict(_FIELD.findall(page))
                    if "verdict_id" not in found:
                        continue
                    wrong = _CONTRADICTED in page
                    choice = (
                        {"action": "reject", "label": "FALSE", "rating": "1"} if wrong else {"action": "send"}
                    )
                    await client.post("/decide", data={**found, **choice})
            await asyncio.sleep(_SECONDS)


async def _first_person(settings: Settings) -> None:
    """Return when a person has decided."""
    codec, topic = create_codec(settings), Topics(settings.kafka.topic_prefix).reviews
    followed = follow(settings.kafka, topic, period=TimeRange(from_beginning=True))
    async with aclosing(followed) as records:
        async for record in records:
            with suppress(DecodeError):
                await codec.lookup(record.value)
                review = codec.decode(record.value, Review)
                if review.reviewer != _NAME and review.outcome != "expired":
                    return
