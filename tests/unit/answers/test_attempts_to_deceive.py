"""Of the answers that people wrote to have something wrong sent, those are sent whose document is at fault.

``attempts.jsonl.gz``: an attempt a line, by five authors who knew the documentation alone and two who read
the code. Each has its own store of ``documents``; ``wrong`` is what its author said of sending it, before the
decision was seen. ``limit`` says what is at fault in a document that is sent in reply to its own title:

- ``another page`` restricts it or takes it back, or ``refers elsewhere``: it does not say all by itself;
- ``meaning``: its title has two, or too little of one;
- ``audience``: it is for others, or for another device;
- ``bad page``: it is no answer to its title, unfinished or out of date.

They were read one by one. Whoever marks such a document says that there is no such fault.
"""

import gzip
import json
from collections import Counter
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


async def _verdict(attempt: dict[str, Any], scorer: Scorer, *, marked: bool) -> tuple[Decision, str]:
    """Return the decision and its first reason, with all documents of the attempt marked, or none."""
    store = StaticDocuments.of(
        KnowledgeDocument(
            each["document_id"], each["language"], each["title"], each["text"], WHEN, auto_send=marked
        )
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
    decided = Policy().decide(scorer.score(exchange, resolved.degraded))
    return decided.decision, decided.reasons[0]


async def _sent(scorer: Scorer, *, marked: bool) -> list[tuple[dict[str, Any], str]]:
    """Return the attempts that are sent, each with the reason."""
    verdicts = [(each, *await _verdict(each, scorer, marked=marked)) for each in ATTEMPTS]
    return [(each, reason) for each, decision, reason in verdicts if decision is Decision.AUTO_SEND]


def test_there_are_many_attempts_and_most_are_wrong():
    assert len(ATTEMPTS) > 1_500
    assert sum(attempt["wrong"] for attempt in ATTEMPTS) > 1_200


@pytest.mark.timeout(1_200)  # half a minute when nothing else runs
async def test_without_marks_nothing_is_sent_but_courtesies(scorer):
    sent = await _sent(scorer, marked=False)
    assert {reason for _, reason in sent} == {"courtesy"}
    assert not any(attempt["wrong"] for attempt, _ in sent)
    assert {"Thanks", "Bedankt"} <= {attempt["question"] for attempt, _ in sent}


@pytest.mark.timeout(1_200)
async def test_if_all_documents_are_marked_what_is_sent_and_wrong_is_wrong_in_the_document(scorer):
    sent = await _sent(scorer, marked=True)
    wrong = [attempt for attempt, _ in sent if attempt["wrong"]]
    assert [each["id"] for each in wrong] == [each["id"] for each in ATTEMPTS if "limit" in each]
    assert Counter(each["limit"] for each in wrong) == {
        "another page": 75,
        "bad page": 62,
        "meaning": 59,
        "audience": 46,
        "refers elsewhere": 29,
    }
    assert sum(reason == "verbatim_document" for attempt, reason in sent if not attempt["wrong"]) > 50
    for attempt, reason in sent:
        if reason == "verbatim_document":
            answer = attempt["answer"].replace("\r\n", "\n").strip("\n ")
            texts = {each["text"].replace("\r\n", "\n").strip("\n ") for each in attempt["documents"]}
            below = {text.partition("\n")[2].strip("\n ") for text in texts if text.startswith("#")}
            assert answer in texts | below, attempt["id"]
