"""Help documents of the sample knowledge base, as their publisher would send them."""

import json
from datetime import UTC, datetime
from importlib.resources import files

from schemas import Codec
from schemas.records import KnowledgeDocument
from tests.support.records import Outgoing


def sample_documents(*document_ids: str) -> list[Outgoing]:
    """Give the records of these documents, in Dutch; of all when none is named."""
    lines = (files("streams") / "sample" / "documents.nl.jsonl").read_text("utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    return [_record(d) for d in documents if not document_ids or d["document_id"] in document_ids]


def numbered_documents(count: int) -> list[Outgoing]:
    """Give the records of so many short documents, each about a machine of its own: ``machine-7``."""
    return [
        document_record(
            f"machine-{number}",
            f"Machine {number} toevoegen",
            f"Open het tabblad **Machines**.\n\n1. Kies **Machine {number}**.\n2. Klik op **Nieuw**.",
        )
        for number in range(count)
    ]


def document_record(document_id: str, title: str, text: str) -> Outgoing:
    """Give the record of a document in Dutch."""
    return _record({"document_id": document_id, "language": "nl", "title": title, "text": text})


def _record(line: dict) -> Outgoing:
    document = KnowledgeDocument(
        document_id=line["document_id"],
        language=line["language"],
        title=line["title"],
        text=line["text"],
        updated_at=datetime(2026, 3, 1, tzinfo=UTC),
    )
    return Outgoing(Codec().encode(document), document.document_id.encode())
