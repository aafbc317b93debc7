"""The pages and documents that are made from the code, and where they lie."""

from __future__ import annotations

from pathlib import Path

from streams.contract.asyncapi import document, text_of
from streams.settings import Settings
from website.pages import DOCS, ROOT
from website.reference import commands, consumers, reasons, records

ASYNCAPI = ROOT / "schemas" / "asyncapi.json"
CONSUMERS = DOCS / "consumers.md"


def made() -> dict[Path, str]:
    """Give the pages, in Markdown, and the AsyncAPI document, by their files."""
    return {
        DOCS / "commands.md": commands.render(),
        DOCS / "records.md": records.render(),
        DOCS / "reasons.md": reasons.render(),
        CONSUMERS: consumers.filled(CONSUMERS.read_text("utf-8")),
        ASYNCAPI: text_of(document(Settings())),
    }
