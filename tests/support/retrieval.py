"""Workers that search their documents: their settings, their index, and answers that need it."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from schemas.records import ChatbotAnswer, Verdict
from streams.settings import Settings
from tests.support.records import eventually
from tests.support.workers import Worker, changed

INDEXED = "truthgate_retrieval_documents_indexed_total"

#: The processes that embed take seconds to start, and several times that on a busy machine.
INDEX_SECONDS = 90.0


def with_retrieval(settings: Settings, **values: Any) -> Settings:
    """Switch retrieval on, with an index that follows at once and whatever it finds sufficient."""
    quick = {"embedder": "use", "update_interval_seconds": 0.2, "floor": -1.0}
    return changed(settings, retrieval={**quick, **values})


def without_context(answers: Iterable[ChatbotAnswer], run: str) -> list[ChatbotAnswer]:
    """Give the same answers with neither passages nor ids, under ids and conversations of this run."""
    return [
        replace(
            answer,
            answer_id=f"{run}-{number}",
            conversation_id=f"{run}-{number}",
            context=(),
            document_ids=(),
        )
        for number, answer in enumerate(answers)
    ]


def by_id(answers: Iterable[ChatbotAnswer], run: str) -> list[ChatbotAnswer]:
    """Give the same answers with the ids of their passages in the place of these."""
    return [
        replace(bare, document_ids=tuple(passage.document_id or "" for passage in answer.context))
        for answer in answers
        for bare in [replace(answer, answer_id=f"{run}-{answer.answer_id}", context=())]
    ]


def index_folder(folder: Path, name: str = "worker") -> Path:
    """Give where the worker of this name has its index."""
    return folder / name / "index"


def metric(worker: Worker, name: str) -> float:
    """Give the sum of what a worker shows under this name; 0 where it shows nothing, or does not answer."""
    status, page = worker.get("/metrics")
    return sum(
        sample.value
        for family in text_string_to_metric_families(page if status == 200 else "")
        for sample in family.samples
        if sample.name == name
    )


def has_indexed(worker: Worker, documents: int) -> bool:
    """Whether a worker's index is complete and has so many documents."""
    return (
        metric(worker, "truthgate_retrieval_complete") == 1
        and metric(worker, "truthgate_retrieval_documents") == documents
    )


async def until_indexed(worker: Worker, documents: int) -> None:
    """Wait until the index is complete with so many documents."""
    await eventually(
        lambda: has_indexed(worker, documents), f"{documents} documents are indexed", INDEX_SECONDS
    )


def was_retrieved(verdict: Verdict) -> bool:
    """Whether a verdict rests on what was found for it."""
    return verdict.context_source == "retrieved" and "retrieval_unavailable" not in verdict.degraded


def assert_retrieved_or_reviewed(verdicts: Iterable[Verdict]) -> None:
    """Each rests on what was found, or says that nothing could be, and is neither sent nor blocked then."""
    for verdict in verdicts:
        if not was_retrieved(verdict):
            assert verdict.degraded[0] == "retrieval_unavailable", verdict.degraded
            assert (verdict.decision, verdict.score, verdict.context) == ("review", None, ())
