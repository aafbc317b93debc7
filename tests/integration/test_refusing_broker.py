"""A broker that is gone and refuses connections: the log stays readable, and the worker resumes by itself."""

import asyncio
import json
from collections import Counter

from schemas import Codec
from streams.embedded import EmbeddedKafka
from streams.kafka.topics import Topics, create_topics
from tests.support.brokers import isolated_settings, unique_prefix
from tests.support.ledger import outgoing, read_until_settled, sample_answers
from tests.support.records import produce
from tests.support.workers import Worker, changed

_AWAY_SECONDS = 30


async def test_a_worker_without_its_broker_logs_a_few_lines_a_minute_and_goes_on_when_it_is_back(tmp_path):
    with EmbeddedKafka() as kafka:
        settings = changed(
            isolated_settings(kafka.bootstrap_servers, tmp_path, unique_prefix()),
            rates={"enabled": True},
            scoring={"processes": 1},
        )
        await create_topics(settings)
        with Worker(settings, tmp_path) as worker:
            worker.wait_ready()
            before = len(worker.log.splitlines())
            kafka.brokers[0].kill()
            await asyncio.sleep(_AWAY_SECONDS)
            lines = [json.loads(line) for line in worker.log.splitlines()[before:]]
            kafka.start_broker(0)
            kafka.wait_in_sync()
            answers = sample_answers(6, run="back")
            topic, codec = Topics(settings.kafka.topic_prefix).answers, Codec()
            await produce(settings.kafka, topic, [outgoing(answer, codec) for answer in answers])
            ledger = await read_until_settled(settings, answers)
            assert worker.terminate() == 0
    ledger.assert_settled(answers)
    assert "never retrieved" not in worker.log
    assert len(lines) < _AWAY_SECONDS, Counter(line["event"] for line in lines)  # it was 150 a second
    assert max(line.get("left_out", 0) for line in lines) > 100
