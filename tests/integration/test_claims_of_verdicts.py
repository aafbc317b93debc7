"""Verdicts with claims on a real Kafka: whole in every encoding, and within what a topic takes."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime

from schemas import Codec, Verdict, to_json
from schemas.records import ChatbotAnswer
from scoring.values.checked_claims import CheckedClaim, ClaimSource, ClaimStatus
from scoring.values.exchange import Decision, MessageType, Passage
from scoring.values.scored_answer import PolicyDecision, ScoredAnswer
from streams.cli.command_output import json_line
from streams.delivery.publisher import Publisher
from streams.kafka.kafka_clients import open_producer
from streams.kafka.topics import Topics, create_topics, message_limits
from streams.pipeline.context import ResolvedContext
from streams.pipeline.verdict import make_verdict
from tests.support.claims import astray, claim_of, source_of
from tests.support.commands import truthgate, variables
from tests.support.records import consume_all, produce
from tests.support.small_registry import SmallRegistry, served
from tests.support.workers import changed

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
HELP = "🎉 Open **Verkoop**. Het kost 5 euro."
ANSWER = "Hallo! Open **Verkoop**. Het kost 50 euro. \x1b[2J"
CLAIMS = (
    claim_of(ANSWER, "Hallo!", ClaimStatus.NOT_CHECKABLE),
    claim_of(ANSWER, "Open **Verkoop**.", ClaimStatus.SUPPORTED, source_of("d-1", HELP, "Open **Verkoop**.")),
    claim_of(
        ANSWER,
        "Het kost 50 euro.",
        ClaimStatus.CONTRADICTED,
        source_of("d-1", HELP, "Het kost 5 euro.", "0123456789abcdef"),
        "number",
    ),
)


def verdict_of(*claims: CheckedClaim) -> Verdict:
    assessment = ScoredAnswer(1.0, MessageType.GENERAL, "nl", claims=claims, support=0.5, contradiction=0.9)
    answer = ChatbotAnswer("a-1", "c-1", "Wat kost het?", ANSWER, NOW)
    context = ResolvedContext((Passage("d-1", HELP),))
    return make_verdict(answer, assessment, PolicyDecision(Decision.BLOCKED, (), "p1"), context, NOW)


async def test_a_verdict_with_claims_comes_through_whole_in_all_three_encodings(settings, topics):
    verdict = verdict_of(*CLAIMS)
    async with served(SmallRegistry()) as url:
        registered = Codec(url)
        await registered.prepare(Verdict)
        in_json = json_line(to_json(replace(verdict, verdict_id="json"))).encode()
        values = [
            Codec().encode(replace(verdict, verdict_id="single object")),
            registered.encode(replace(verdict, verdict_id="registry")),
            in_json,
        ]
        await produce(settings.kafka, topics.blocked, values)
        encoding = {"TRUTHGATE_ENCODING__SCHEMA_REGISTRY_URL": url, "TRUTHGATE_ENCODING__JSON_INPUT": "true"}
        asked = ("tail", "--from-beginning", "-n", "3")
        environment = variables(settings) | encoding
        told = await asyncio.to_thread(truthgate, *asked, "--json", environment=environment)
        shown = await asyncio.to_thread(truthgate, *asked, environment=environment)
    lines = {line["verdict_id"]: line for line in map(json.loads, told.stdout.splitlines())}
    assert lines.keys() == {"single object", "registry", "json"}
    for verdict_id, line in lines.items():
        assert line == to_json(replace(verdict, verdict_id=verdict_id))
        assert [line["faithfulness"], line["claims"][2]["source"]["text"]] == [0.5, "Het kost 5 euro."]
    assert astray(verdict, {"d-1": [HELP]}) == []
    assert (
        shown.stdout.count("✗ contradicted (number)  “Het kost 50 euro.”  d-1@01234567: “Het kost 5 euro.”")
        == 3
    )
    assert "\x1b" not in shown.stdout


async def test_a_verdict_with_ever_so_many_claims_is_taken_by_topics_for_the_smallest_answers(settings):
    small = changed(settings, encoding={"max_value_bytes": 1024})
    await create_topics(small)
    topic = Topics(small.kafka.topic_prefix).blocked
    source = ClaimSource("d" * 256, "v" * 16, "🎉" * 5_000, 0, 5_000)
    claims = [CheckedClaim(ANSWER, 0, len(ANSWER), ClaimStatus.NOT_FOUND, None, 0.0, source)] * 2_000
    verdict = verdict_of(*claims)
    async with open_producer(small.kafka, max_request_size=message_limits(small).verdict) as producer:
        await Publisher(producer, 10).publish(topic, b"c-1", Codec().encode(verdict), ())
    (record,) = await consume_all(small.kafka, topic)
    read = Codec().decode(record.value, Verdict)
    assert read == verdict
    assert 0 < len(read.claims) < len(claims)
