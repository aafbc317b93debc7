"""A desk process, and a reviewer who uses it without a script."""

import re
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import httpx2

from schemas import Codec, Review, Verdict
from streams.kafka.topic_reader import open_reader
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.records import Outgoing, produce
from tests.support.verdicts import any_verdict
from tests.support.workers import Worker, changed


class DeskProcess(Worker):
    """A process of ``truthgate desk`` with a folder of its own."""

    starts = "desk_starts"

    def __init__(self, settings: Settings, folder: Path, **desk: Any) -> None:
        own = changed(settings, desk={"port": 0, "store": folder / "desk", "undo_seconds": 0, **desk})
        super().__init__(own, folder, "desk-log")

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "streams.cli", "desk"]


def held(number: int, **fields: Any) -> Verdict:
    """Give a verdict that waits for a person; a higher number is younger."""
    produced = datetime.now(UTC) - timedelta(minutes=10) + timedelta(seconds=number)
    own = {"question": f"Question {number}?", "answer": f"Answer {number}.", "produced_at": produced}
    ids = {"verdict_id": f"v-{number}", "answer_id": f"a-{number}", "conversation_id": f"c-{number}"}
    return any_verdict(**{**ids, **own, "scored_at": produced, **fields})


async def publish(settings: Settings, verdicts: Iterable[Verdict]) -> None:
    """Publish verdicts to the topics of their decisions."""
    topics, codec = Topics(settings.kafka.topic_prefix), Codec()
    for verdict in verdicts:
        record = Outgoing(codec.encode(verdict), verdict.conversation_id.encode())
        await produce(settings.kafka, topics.verdict_topic(verdict.decision), [record])


async def reviews(settings: Settings) -> list[Review]:
    """Return all reviews on the topic, in order within a partition."""
    topic, codec, found = Topics(settings.kafka.topic_prefix).reviews, Codec(), list[Review]()
    async with open_reader(settings.kafka, topic) as reader:
        seen = await reader.snapshot()
        async for records in reader.read_between(seen.beginning_offsets, seen.end_offsets):
            found += [codec.decode(record.value, Review) for record in records]
    return found


class Reviewer:
    """A browser without a script: it logs in, reads pages and submits their forms."""

    def __init__(self, address: str, name: str = "kim", token: str | None = None) -> None:
        self._client = httpx2.Client(base_url=address, follow_redirects=True, timeout=60, trust_env=False)
        self.page = self._client.post("/login", data={"name": name, "token": token or ""}).text

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    @property
    def cookies(self) -> httpx2.Cookies:
        """Those of the session."""
        return self._client.cookies

    def look(self, path: str = "/") -> str:
        self.page = self._client.get(path).text
        return self.page

    @property
    def shown(self) -> str | None:
        """The verdict on the screen."""
        found = re.search(r'name="verdict_id" value="([^"]*)"', self.page)
        return found[1] if found else None

    def decide(self, action: str, verdict_id: str | None = None, **fields: str) -> str:
        """Submit the form on the screen, for another verdict if one is given."""
        data = {"verdict_id": verdict_id or self.shown or "", "action": action, **fields}
        return self.post("/decide", **data)

    def undo(self) -> str:
        found = re.search(r'name="review_id" value="([^"]*)"', self.page)
        assert found, self.page
        return self.post("/undo", review_id=found[1])

    def post(self, path: str, **data: str) -> str:
        found = re.search(r'name="form_token" value="([^"]*)"', self.page)
        self.page = self._client.post(path, data={"form_token": found[1] if found else "", **data}).text
        return self.page
