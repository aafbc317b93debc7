"""The pages of reference and the AsyncAPI and OpenAPI documents, and where they lie."""

from pathlib import Path

from docs.generate.contract.asyncapi import document, text_of
from docs.generate.reference import commands, consumers, reasons, records, settings, telemetry
from docs.generate.site.pages import DOCS
from streams.settings import Settings, VerdictSettings
from streams.settings.described import described
from streams.web import openapi
from streams.worker.metrics import Metrics

ASYNCAPI = DOCS / "asyncapi.json"
OPENAPI = DOCS / "openapi.json"
CONSUMERS = DOCS / "consumers.md"


def made() -> dict[Path, str]:
    """Give the pages, in Markdown, and the AsyncAPI and OpenAPI documents, by their files."""
    return {
        DOCS / "commands.md": commands.render(),
        DOCS / "records.md": records.render(),
        DOCS / "reasons.md": reasons.render(),
        settings.PAGE: settings.render(described()),
        telemetry.PAGE: telemetry.render(Metrics().sections, telemetry.PAGE.read_text("utf-8")),
        CONSUMERS: consumers.filled(CONSUMERS.read_text("utf-8")),
        ASYNCAPI: text_of(document(Settings())),
        OPENAPI: text_of(openapi.document(VerdictSettings())),
    }
