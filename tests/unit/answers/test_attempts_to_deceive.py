"""None of the answers that people wrote to have something wrong sent by itself is sent.

``attempts.jsonl.gz``: an attempt a line, by five authors who knew the documentation alone and two who read
the code. Each has its own store of ``documents``; ``wrong`` is what its author said of sending it, before the
decision was seen. ``limit`` marks what words cannot tell, as ``docs/what-is-sent.md`` lists it: another page
that takes back in other words, titles with two meanings, pages for others, and pages that are wrong.
"""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas import ChatbotAnswer, ContextPassage, KnowledgeDocument
from scoring import Policy, Scorer
from scoring.values.exchange import Decision
from streams.pipeline.context import StaticDocuments, resolve_context
from streams.pipeline.verdict import make_exchange

WHEN = datetime(2026, 3, 2, tzinfo=UTC)
ATTEMPTS = [
    json.loads(line)
    for line in gzip.decompress(Path(__file__).with_name("attempts.jsonl.gz").read_bytes()).splitlines()
]


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    return Scorer()


async def _decision(attempt: dict[str, Any], scorer: Scorer) -> Decision:
    store = StaticDocuments.of(
        KnowledgeDocument(each["document_id"], each["language"], each["title"], each["text"], WHEN)
        for each in attempt["documents"]
    )
    context = tuple(
        ContextPassage(each["document_id"], each["text"], each.get("title"))
        for each in attempt.get("context", ())
    )
    named = () if context else (each["document_id"] for each in attempt["documents"])
    answer = ChatbotAnswer(
        attempt["id"],
        "c-1",
        attempt["question"],
        attempt["answer"],
        context=context,
        document_ids=tuple(attempt.get("document_ids", named)),
        language=attempt["language"],
        produced_at=WHEN,
    )
    resolved = await resolve_context(answer, store, 1)
    exchange = make_exchange(answer, resolved.scoring_passages, resolved.published_documents)
    return Policy().decide(scorer.score(exchange, resolved.degraded)).decision


async def test_nothing_wrong_is_sent_and_plain_thanks_are(scorer: Scorer) -> None:
    assert len(ATTEMPTS) > 1_500
    assert sum(attempt["wrong"] for attempt in ATTEMPTS) > 1_200
    sent = [each for each in ATTEMPTS if await _decision(each, scorer) is Decision.AUTO_SEND]
    wrong = [each for each in sent if each["wrong"]]
    assert [(each["id"], each["question"]) for each in wrong if "limit" not in each] == []
    assert len(wrong) <= 73, "more is sent that only a person can tell than the documentation says"
    assert {"Thanks", "Bedankt"} <= {each["question"] for each in sent}
