"""The reference pages and the AsyncAPI and OpenAPI documents, by their paths."""

from pathlib import Path

from docs.generate.contract.asyncapi import asyncapi_document, text_of
from docs.generate.reference import (
    commands_page,
    consumers_page,
    reasons_page,
    records_page,
    settings_page,
    telemetry_page,
)
from docs.generate.site.site_pages import DOCS
from streams.cli.evaluate.evaluation_files import report_schema
from streams.settings import EncodingSettings, Settings, VerdictSettings
from streams.settings.setting_catalog import all_settings
from streams.web import openapi
from streams.web.verdict_endpoint import MAX_IN_FLIGHT

ASYNCAPI = DOCS / "asyncapi.json"
OPENAPI = DOCS / "openapi.json"
EVALUATION_SCHEMA = DOCS / "evaluation.schema.json"
CONSUMERS = DOCS / "consumers.md"


def reference_texts() -> dict[Path, str]:
    """Return the Markdown pages and the AsyncAPI and OpenAPI documents, by their paths."""
    return {
        DOCS / "commands.md": commands_page.render(),
        DOCS / "records.md": records_page.render(),
        DOCS / "reasons.md": reasons_page.render(),
        settings_page.PAGE: settings_page.render(all_settings()),
        telemetry_page.PAGE: telemetry_page.render(
            telemetry_page.metric_sections(), telemetry_page.PAGE.read_text("utf-8")
        ),
        CONSUMERS: consumers_page.fill_generated_parts(CONSUMERS.read_text("utf-8")),
        EVALUATION_SCHEMA: text_of(report_schema()),
        ASYNCAPI: text_of(asyncapi_document(Settings())),
        OPENAPI: text_of(
            openapi.openapi_document(VerdictSettings(), MAX_IN_FLIGHT, EncodingSettings().max_value_bytes)
        ),
    }
