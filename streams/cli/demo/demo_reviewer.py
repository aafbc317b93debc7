"""The simulated reviewer of the demo: rates as the sample is rated, until a person decides at the desk."""

import asyncio
import re
from collections.abc import Collection, Mapping
from contextlib import aclosing, suppress
from typing import Final

import httpx2

from schemas import Review
from scoring.values.exchange import MIN_TRUE_RATING
from streams.cli.command_output import say
from streams.cli.topic_access import TimeRange, decode_record, follow
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics
from streams.settings import Settings

_NAME: Final = "Simulated reviewer"
#: A visitor has the time to look, and to decide himself.
_SECONDS: Final = 3.0
_TIMEOUT_SECONDS: Final = 10.0
_FIELD: Final = re.compile(r'name="(form_token|verdict_id)" value="([^"]*)"')
_IS_WAITING: Final = 'value="send"'


class SimulatedReviewer:
    """Decides about what waits, and rates what was sent or blocked, with the ratings of the sample.

    Args:
        settings: of the demo's worker and desk.
        address: of the desk.
        ratings: from 1 to 5 by verdict id.

    Attributes:
        seconds: the pause before each decision.
        has_stopped: a person has decided at the desk.
    """

    def __init__(self, settings: Settings, address: str, ratings: Mapping[str, int]) -> None:
        self._settings = settings
        self._address = address
        self._ratings = ratings
        self._reviewed: set[str] = set()
        self._news = asyncio.Condition()
        self.seconds = _SECONDS
        self.has_stopped = False

    async def run(self) -> None:
        """Decide until a person does."""
        reviewing = asyncio.create_task(self._review())
        try:
            await self._follow_until_a_person_decides()
        finally:
            reviewing.cancel()
        self.has_stopped = True
        say("the simulated reviewer has stopped: you decide")
        async with self._news:
            self._news.notify_all()

    async def wait_for(self, verdict_ids: Collection[str]) -> None:
        """Return when all of these verdicts are reviewed, or a person decides."""
        async with self._news:
            await self._news.wait_for(lambda: self.has_stopped or self._reviewed.issuperset(verdict_ids))

    async def _review(self) -> None:
        async with httpx2.AsyncClient(
            base_url=self._address, follow_redirects=True, timeout=_TIMEOUT_SECONDS, trust_env=False
        ) as client:
            while True:
                with suppress(httpx2.HTTPError):  # the desk starts
                    await client.post("/login", data={"name": _NAME})
                    while True:
                        await asyncio.sleep(self.seconds)
                        await self._decide(client, (await client.get("/")).text)
                await asyncio.sleep(_SECONDS)

    async def _decide(self, client: httpx2.AsyncClient, page: str) -> None:
        """Decide about the answer on the page, if there is one that the sample has a rating of."""
        found = dict(_FIELD.findall(page))
        rating = self._ratings.get(found.get("verdict_id", ""))
        if rating is None:
            return
        is_true = rating >= MIN_TRUE_RATING
        action = ("send" if is_true else "reject") if _IS_WAITING in page else "rate"
        said = {"action": action, "rating": str(rating), "label": "TRUE" if is_true else "FALSE"}
        await client.post("/decide", data={**found, **said})

    async def _follow_until_a_person_decides(self) -> None:
        codec, topic = create_codec(self._settings), Topics(self._settings.kafka.topic_prefix).reviews
        followed = follow(self._settings.kafka, topic, period=TimeRange(from_beginning=True))
        async with aclosing(followed) as records:
            async for record in records:
                review = await decode_record(record, codec, Review)
                if review is None:
                    continue
                if review.reviewer != _NAME and review.outcome != "expired":
                    return
                async with self._news:
                    self._reviewed.add(review.verdict_id)
                    self._news.notify_all()
