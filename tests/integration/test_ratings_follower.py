"""The store of ratings on a real Kafka: killed while it reads, and with topics that are others."""

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path

from schemas import Codec, Review, Verdict
from streams.kafka.topics import Topics
from streams.reviews.audit_sample import AuditSample
from streams.reviews.rating_follower import RatingFollower
from streams.reviews.rating_records import join_records
from streams.reviews.rating_store import RatingStore
from streams.settings import Settings
from tests.support.records import Outgoing, eventually, produce
from tests.support.reviews import a_review
from tests.support.verdicts import any_verdict

SAMPLE = AuditSample(b"key", 0.5)
CODEC = Codec()
_NOW = any_verdict().scored_at.replace(year=2026, month=11, day=20)
_LATER = _NOW + timedelta(hours=1)
VERDICTS = [
    any_verdict(
        verdict_id=f"v-{n}",
        decision=("auto_send", "review", "blocked")[n % 3],
        scored_at=_NOW + timedelta(seconds=n),
    )
    for n in range(300)
]
REVIEWS = [
    a_review(
        review_id=f"r-{n}", verdict_id=f"v-{2 * n}", rating=1 + n % 5, reviewed_at=_NOW + timedelta(hours=1)
    )
    for n in range(200)  # the last of verdicts that are not there
]


async def publish(settings: Settings, records: list[Verdict | Review]) -> None:
    """Write records to their topics, spread over the partitions."""
    topics, groups = Topics(settings.kafka.topic_prefix), dict[str, list[Outgoing]]()
    verdicts = {"auto_send": topics.auto_send, "review": topics.review, "blocked": topics.blocked}
    for each in records:
        topic = topics.reviews if isinstance(each, Review) else verdicts[each.decision]
        groups.setdefault(topic, []).append(Outgoing(CODEC.encode(each), each.verdict_id.encode()))
    for topic, outgoing in groups.items():
        await produce(settings.kafka, topic, outgoing)


def _follow(settings: Settings, folder: Path) -> None:
    with closing(RatingStore(folder, CODEC)) as store:
        asyncio.run(RatingFollower(settings.kafka, CODEC, store).run())


@contextmanager
def following(settings: Settings, folder: Path) -> Iterator[None]:
    """Follow in another process, which is killed in the end."""
    process = get_context("spawn").Process(target=_follow, args=(settings, folder))
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def stored(folder: Path) -> int:
    """Return how many records are in the store."""
    with closing(RatingStore(folder, CODEC)) as store:
        joined = store.joined(SAMPLE)
    return len(joined.ratings) + sum(len(each.reviews) for each in joined.ratings) + len(joined.unknown)


async def test_killed_again_and_again_the_store_equals_a_recount_of_the_topics(
    topics: Topics, settings: Settings, tmp_path: Path
) -> None:
    parts = [REVIEWS[:80], VERDICTS[:150], VERDICTS[100:200], [*REVIEWS[60:150], *VERDICTS[:50]]]
    published, count = list[Verdict | Review](), 0
    for number, part in enumerate([*parts, [*VERDICTS[200:], *REVIEWS[150:]]]):
        await publish(settings, part)
        published += part
        with following(settings, tmp_path):
            if number == len(parts):
                await eventually(lambda: stored(tmp_path) == 500, "everything is read", 60)
            else:
                await eventually(lambda count=count: stored(tmp_path) > count, "something is read", 60)
        count = stored(tmp_path)
    with closing(RatingStore(tmp_path, CODEC)) as store:
        assert store.joined(SAMPLE) == join_records(published, SAMPLE.draw)


async def test_a_lost_store_is_read_again(topics: Topics, settings: Settings, tmp_path: Path) -> None:
    await publish(settings, [*VERDICTS[:9], *REVIEWS[:3]])
    for folder in (tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
        with following(settings, folder):
            await eventually(lambda folder=folder: stored(folder) == 12, "everything is read", 60)
        with closing(RatingStore(folder, CODEC)) as store:
            assert store.joined(SAMPLE) == join_records([*VERDICTS[:9], *REVIEWS[:3]], SAMPLE.draw)
