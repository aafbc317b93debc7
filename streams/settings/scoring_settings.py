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
    """Give how many processors the system lets this process use, at least one.

    Part of one counts as a whole. ``cgroup`` is where the limits of its container stand, in either version.
    """
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        allowed = os.cpu_count() or 1
    return max(1, math.ceil(min(allowed, _quota(cgroup))))


def _quota(cgroup: Path) -> float:
    """Give the processors' worth of time that a container may have, infinite where nothing says so."""
    for named in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            quota, period = " ".join((cgroup / name).read_text("utf-8") for name in named).split()
            if (share := float(quota) / float(period)) > 0:
                return share
        except (OSError, ValueError, ZeroDivisionError):  # not there, "max", or a form yet to come
            continue
    return math.inf


MAX_PROCESSES = 1024


def _readable_lexicons(folder: Path) -> Path:
    load_folder(folder)  # its error is one line with file, line and reason
    return folder


class VerifierSettings(SettingsSection):
    """A cross-encoder in ONNX that is asked about claims which their words leave in doubt."""

    folder: Path | None = Field(
        None,
        description="holds model.onnx, tokenizer.json, and verifier.json or config.json; needs "
        "truthgate[verifier]; unset: nothing is asked",
    )
    timeout_seconds: float = Field(
        0.5,
        gt=0,
        le=60,
        description="how long it may take for one answer; of what is left their words decide, "
        "degraded verifier_timeout",
    )


class ScoringSettings(SettingsSection):
    """Who judges, in how many processes, and for how long at most."""

    enabled: bool = Field(True, description="off: every answer goes to review, degraded scoring_disabled")
    profile: Literal["truthgate", "paper"] = Field(
        "truthgate", description="paper: the study's features alone, on yes-or-no and how-to questions"
    )
    lexicons: Annotated[Path, AfterValidator(_readable_lexicons)] | None = Field(
        None, description="a folder of lexicons (nl.toml) for other languages or instead of the package's"
    )
    processes: int = Field(
        default_factory=lambda: min(MAX_PROCESSES, usable_processors()),
        ge=1,
        le=MAX_PROCESSES,
        description="unset: as many as there are processors, or as the container may use",
    )
    timeout_seconds: Seconds = Field(10, description="how long one answer may occupy a scoring process")
    pipelines: dict[str, str] = Field(
        default_factory=dict,
        description="spaCy pipelines other than the default, by language: an installed package or a folder",
    )
    parse_cache_mib: int = Field(
        500, ge=0, le=1_000_000, description="how large that file may grow; 0: every start parses anew"
    )

    verifier: VerifierSettings = VerifierSettings()

    @field_validator("pipelines")
    @classmethod
    def _languages_have_lexicons(cls, pipelines: dict[str, str], others: ValidationInfo) -> dict[str, str]:
        if pipelines and "lexicons" in others.data:  # not there: refused itself
            known = load_lexicons(others.data["lexicons"])
            if unknown := sorted(set(pipelines) - set(known)):
                raise ValueError(f"{unknown[0]!r} is no language with a lexicon ({', '.join(sorted(known))})")
        return pipelines


class TranslationSettings(SettingsSection):
    """Whether and by whom texts are translated into English before they are judged.

    What is not set is not contacted. Questions and answers may hold personal data: a public
    translator sees them.
    """

    provider: Literal["libretranslate", "google", "deepl", "mymemory"] | None = Field(
        None, description="who translates, and sees the texts"
    )
    base_url: HttpUrl | None = Field(
        None, description="the server of libretranslate, which has no default, or of deepl"
    )
    api_key: SecretStr | None = Field(None, description="the provider's, where it asks for one")
    timeout_seconds: Seconds = Field(
        10,
        description="how long an answer waits for its translation, but never more than half of the time "
        "it has left; then it is judged as it is, degraded translation_unavailable",
    )
