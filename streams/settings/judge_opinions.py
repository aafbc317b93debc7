"""Section ``judges.kept``: opinions that are not asked for again."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from streams.settings.base import Section


class KeptOpinionSettings(Section):
    """Where opinions are kept, by hashes of what went into them; no text is."""

    file: Path | None = Field(None, description="where opinions are kept; unset: beside documents.store")
    mib: int = Field(
        64, ge=0, le=100_000, description="how large that file may grow; 0: a repeated answer is asked anew"
    )
