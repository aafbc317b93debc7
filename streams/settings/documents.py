"""Sections ``documents`` and ``company_terms``: the copy of the help documents, and their words."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_cache_path
from pydantic import Field

from scoring.company_terms import LEAST_DOCUMENTS
from streams.settings.base import YEAR_SECONDS, Seconds, Section


class DocumentSettings(Section):
    """The local copy of the help documents, and how long an answer waits for one."""

    store: Path = Field(
        default_factory=lambda: user_cache_path("truthgate") / "documents",
        description="the folder of one worker alone, best on a volume that stays; unset: in the user's cache",
    )
    wait_seconds: Seconds = Field(
        5, description="how long an answer waits for a document that is not there yet"
    )
    catch_up_timeout_seconds: Seconds = Field(
        600, description="how long the start waits for the documents that exist"
    )
    stale_after_seconds: Seconds = Field(
        300,
        ge=120,  # the topic is looked at each minute
        description="a copy that could not be confirmed for this long may be out of date: "
        "answers judged on it go to review, degraded documents_stale",
    )
    rebuild_after_seconds: float = Field(
        72_000,
        gt=0,
        le=YEAR_SECONDS,
        description="a store older than this is rebuilt: tombstones may be gone (delete.retention.ms)",
    )
    history_days: float = Field(
        30,
        ge=0,
        le=3650,
        description="how long a version is kept after another took its place, for answers from before that",
    )


class CompanyTermsSettings(Section):
    """The words of the company's own language, which the feature ``company_terms`` looks for."""

    file: Path | None = Field(
        None,
        description="what `truthgate company-terms build` wrote; unset: built from the documents, as they "
        "change",
    )
    least_documents: int = Field(
        LEAST_DOCUMENTS, ge=1, description="a language with fewer documents has no terms"
    )
    rebuild_interval_seconds: Seconds = Field(60, description="how often changes are taken in, at most")
