"""Writes the AsyncAPI document and what is made of the consumers' page: ``python -m streams.contract``."""

from __future__ import annotations

from pathlib import Path

from streams.contract.asyncapi import document, text_of
from streams.contract.page import filled
from streams.settings import Settings

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "schemas" / "asyncapi.json"
PAGE = ROOT / "docs" / "consumers.md"

if __name__ == "__main__":
    DOCUMENT.write_text(text_of(document(Settings())), encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
