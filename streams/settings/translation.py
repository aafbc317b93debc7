"""Section ``translation``: texts into English before they are judged."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from platformdirs import user_cache_path
from pydantic import Field, SecretStr, model_validator

from streams.settings.addresses import HttpUrl
from streams.settings.base import Seconds, Section


class TranslationSettings(Section):
    """Whether and by whom texts are translated into English before they are judged.

    What is not set is not contacted. Questions and answers may hold personal data: a public
    translator sees them.
    """

    mode: Literal["off", "auto", "always"] = Field(
        "off",
        description="auto: what is not in English is translated if a provider is set; "
        "always: the same, and a provider must be set",
    )
    provider: Literal["libretranslate", "google", "deepl", "mymemory"] | None = Field(
        None, description="who translates, and sees the texts"
    )
    base_url: HttpUrl | None = Field(
        None, description="the server of libretranslate, which has no default, or of deepl"
    )
    api_key: SecretStr | None = Field(None, description="the provider's, where it asks for one")
    time_limit_seconds: Seconds = Field(
        10,
        description="how long an answer waits for its translation, but never more than half of the time "
        "it has left; then it is judged as it is, degraded translation_unavailable",
    )
    request_timeout_seconds: float = Field(5, gt=0, le=60, description="how long one HTTP call may take")
    attempts: int = Field(3, ge=1, le=10, description="how often a failing call is tried, in all")
    concurrency: int = Field(4, ge=1, le=64, description="how many calls are made at once")
    request_characters: int = Field(
        1000, ge=100, le=4500, description="how much text goes into one call, about"
    )
    breaker_failures: int = Field(
        5, ge=1, le=10_000, description="so many failed calls in a row, and no answer waits any more"
    )
    breaker_reset_seconds: Seconds = Field(30, description="how long until one call tries again")
    cache: Path = Field(
        default_factory=lambda: user_cache_path("truthgate") / "translations.sqlite3",
        description="the file of translations of documents; questions and answers never are in it; unset: in "
        "the user's cache",
    )
    cache_mib: int = Field(256, ge=1, le=100_000, description="how large that file may grow")

    @model_validator(mode="after")
    def _is_whole(self) -> TranslationSettings:
        if self.mode == "always" and self.provider is None:
            raise ValueError("mode always needs a provider")
        return self
