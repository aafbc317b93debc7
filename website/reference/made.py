"""The pages that are made from the code, and where they lie."""

from __future__ import annotations

from pathlib import Path

from website.pages import DOCS
from website.reference import commands, reasons, records


def made() -> dict[Path, str]:
    """Give the pages, in Markdown, by their files."""
    return {
        DOCS / "commands.md": commands.render(),
        DOCS / "records.md": records.render(),
        DOCS / "reasons.md": reasons.render(),
    }
