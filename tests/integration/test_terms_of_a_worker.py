"""The words of the company follow its documents, from the topic to the verdict."""

import time
from datetime import UTC, datetime
from pathlib import Path

from schemas import Codec
from schemas.records import ChatbotAnswer, ContextPassage, KnowledgeDocument, Verdict
from scoring.company_terms import load_terms
from streams.documents.company_terms import TERMS_FILE_NAME
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.documents import sample_documents
from tests.support.ledger import outgoing, read_until_settled
from tests.support.records import DEADLINE_SECONDS, Outgoing, eventually, produce
from tests.support.workers import Worker, changed

CODEC = Codec()
WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
#: A word that nobody uses.
TERM = "vliegwielborging"


def document(document_id: str, text: str) -> Outgoing:
    value = CODEC.encode(KnowledgeDocument(document_id, "nl", "Machines", text, WHEN))
    return Outgoing(value, document_id.encode())


def terms(folder: Path) -> frozenset[str]:
    path = folder / "worker" / TERMS_FILE_NAME
    return (load_terms(path).for_language("nl") if path.exists() else None) or frozenset()


async def judged(settings: Settings, topics: Topics, answer_id: str) -> Verdict:
    answer = ChatbotAnswer(
        answer_id,
        answer_id,
        "Hoe stel ik de borging in?",
        f"Open het tabblad **Machines** en vul bij de {TERM} een datum in.",
        WHEN,
        context=(ContextPassage("m", f"Vul op het tabblad **Machines** bij de {TERM} een datum in."),),
        language="nl",
    )
    await produce(settings.kafka, topics.answers, [outgoing(answer, CODEC)])
    ledger = await read_until_settled(settings, [answer], deadline=DEADLINE_SECONDS)
    return next(verdict for verdict in ledger.verdicts if verdict.answer_id == answer_id)


def company_words(verdict: Verdict) -> set[str]:
    feature = next(feature for feature in verdict.features if feature.name == "company_terms")
    assert feature.value is not None
    assert all(verdict.answer[e.start : e.end] == e.text for e in feature.evidence)
    return {evidence.text for evidence in feature.evidence}


async def test_words_of_documents_reach_the_verdict_and_leave_it_with_the_documents(
    settings, topics, tmp_path
):
    quick = changed(
        settings,
        scoring={"processes": 1, "profile": "paper"},
    )
    two = [document("m1", f"Controleer de {TERM}."), document("m2", f"De {TERM} zit links.")]
    await produce(settings.kafka, topics.documents, [*sample_documents(), *two])
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        assert {"kantora", TERM} <= terms(tmp_path)
        assert {"tabblad", TERM} <= company_words(await judged(quick, topics, "a-0"))
        assert 'truthgate_company_terms{language="nl"}' in worker.metrics()

        await produce(settings.kafka, topics.documents, [document("m1", "Controleer de zwenkarmstelling.")])
        await eventually(lambda: TERM not in terms(tmp_path), "an update takes its words away")
        await produce(settings.kafka, topics.documents, [document("m3", "Let op de zwenkarmstelling.")])
        await eventually(lambda: "zwenkarmstelling" in terms(tmp_path), "a document brings words")
        await produce(settings.kafka, topics.documents, [Outgoing(None, b"m3")])
        await eventually(lambda: "zwenkarmstelling" not in terms(tmp_path), "a tombstone takes them away")

        end, number = time.monotonic() + DEADLINE_SECONDS, 1
        while TERM in company_words(await judged(quick, topics, f"a-{number}")):
            assert time.monotonic() < end, "the scoring process notices the newer file"
            number += 1
        assert worker.terminate() == 0


async def test_without_documents_answers_are_judged_without_the_feature(settings, topics, tmp_path):
    quick = changed(settings, scoring={"processes": 1, "profile": "paper"})
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        verdict = await judged(quick, topics, "a-0")
        values = {feature.name: feature.value for feature in verdict.features}
        assert values["company_terms"] is None
        assert verdict.score is not None
        assert worker.terminate() == 0
