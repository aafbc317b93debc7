"""Sections `scoring` and `translation`."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo, field_validator

from scoring.lexicon import load_folder, load_lexicons
from streams.settings.settings_base import HttpUrl, Seconds, SettingsSection

_CGROUP = Path("/sys/fs/cgroup")


def usable_processors(cgroup: Path = _CGROUP) -> int:
    """Return the number of processors that this process may use, at least one, rounded up.

    ``cgroup`` is the folder of the container's limits, in either version.
    """
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        allowed = os.cpu_count() or 1
    return max(1, math.ceil(min(allowed, _quota(cgroup))))


def _quota(cgroup: Path) -> float:
    """Return the container's CPU quota in processors, infinite if there is none."""
    for named in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            quota, period = " ".join((cgroup / name).read_text("utf-8") for name in named).split()
            if (share := float(quota) / float(period)) > 0:
                return share
        except (OSError, ValueError, ZeroDivisionError):  # missing, "max", or an unknown format
            continue
    return math.inf


MAX_PROCESSES = 1024


def _readable_lexicons(folder: Path) -> Path:
    load_folder(folder)  # its error has file, line and reason
    return folder


class VerifierSettings(SettingsSection):
    """An ONNX cross-encoder for claims that word comparison leaves in doubt."""

    folder: Path | None = Field(
        None,
        description="folder with model.onnx, tokenizer.json, and verifier.json or config.json; needs "
        "truthgate[verifier]; unset: no verifier",
    )
    timeout_seconds: float = Field(
        0.5,
        gt=0,
        le=60,
        description="timeout for one answer; remaining claims are decided by word comparison, "
        "degraded verifier_timeout",
    )


class ScoringSettings(SettingsSection):
    """How answers are scored: profile, languages, processes and timeouts."""

    enabled: bool = Field(True, description="off: every answer goes to review, degraded scoring_disabled")
    profile: Literal["truthgate", "paper"] = Field(
        "truthgate", description="paper: only the study's features, on yes-or-no and how-to questions"
    )
    lexicons: Annotated[Path, AfterValidator(_readable_lexicons)] | None = Field(
        None, description="folder of lexicons (nl.toml) for other languages, or to replace the package's"
    )
    processes: int = Field(
        default_factory=lambda: min(MAX_PROCESSES, usable_processors()),
        ge=1,
        le=MAX_PROCESSES,
        description="unset: the number of processors that the machine or container has",
    )
    timeout_seconds: Seconds = Field(10, description="timeout of one answer in a scoring process")
    pipelines: dict[str, str] = Field(
        default_factory=dict,
        description="spaCy pipelines by language instead of the defaults: an installed package or a folder",
    )
    parse_cache_mib: int = Field(
        500,
        ge=0,
        le=1_000_000,
        description="maximum size of the parse cache; 0: no cache, every start parses again",
    )

    verifier: VerifierSettings = VerifierSettings()

    @field_validator("pipelines")
    @classmethod
    def _languages_have_lexicons(cls, pipelines: dict[str, str], others: ValidationInfo) -> dict[str, str]:
        if pipelines and "lexicons" in others.data:  # missing if it is itself invalid
            known = load_lexicons(others.data["lexicons"])
            if unknown := sorted(set(pipelines) - set(known)):
                raise ValueError(f"{unknown[0]!r} has no lexicon; known: {', '.join(sorted(known))}")
        return pipelines


class TranslationSettings(SettingsSection):
    """Translation of texts into English before judging.

    Without a provider nothing is contacted. Questions and answers may contain personal data, which a
    public translator sees.
    """

    provider: Literal["libretranslate", "google", "deepl", "mymemory"] | None = Field(
        None, description="translation service, which sees the texts"
    )
    base_url: HttpUrl | None = Field(None, description="server of libretranslate (required) or deepl")
    api_key: SecretStr | None = Field(None, description="API key of the provider, if it requires one")
    timeout_seconds: Seconds = Field(
        10,
        description="how long an answer waits for its translation, at most half of its remaining time; "
        "then it is judged untranslated, degraded translation_unavailable",
    )
