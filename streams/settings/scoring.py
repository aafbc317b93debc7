"""Section ``scoring``: who judges. What a score leads to is section ``policy``, in ``scoring/policy.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from scoring.lexicon import load_folder, load_lexicons
from streams.settings.base import Seconds, Section
from streams.settings.processors import usable_processors

MOST_PROCESSES = 1024


def _readable_lexicons(folder: Path) -> Path:
    load_folder(folder)  # its error is one line with file, line and reason
    return folder


class VerifierSettings(Section):
    """A cross-encoder in ONNX that is asked about claims which their words leave in doubt."""

    folder: Path | None = Field(
        None,
        description="holds model.onnx, tokenizer.json, and verifier.json or config.json; needs "
        "truthgate[verifier]; unset: nothing is asked",
    )
    seconds: float = Field(
        0.5,
        gt=0,
        le=60,
        description="how long it may take for one answer; of what is left their words decide, "
        "degraded verifier_timeout",
    )


class ScoringSettings(Section):
    """Who judges, in how many processes, and for how long at most."""

    enabled: bool = Field(True, description="off: every answer goes to review, degraded scoring_disabled")
    profile: Literal["truthgate", "paper"] = Field(
        "truthgate", description="paper: the study's features alone, on yes-or-no and how-to questions"
    )
    lexicons: Annotated[Path, AfterValidator(_readable_lexicons)] | None = Field(
        None, description="a folder of lexicons (nl.toml) for other languages or instead of the package's"
    )
    processes: int = Field(
        default_factory=lambda: min(MOST_PROCESSES, usable_processors()),
        ge=1,
        le=MOST_PROCESSES,
        description="unset: as many as there are processors, or as the container may use",
    )
    timeout_seconds: Seconds = Field(10, description="how long one answer may occupy a scoring process")
    pipelines: dict[str, str] = Field(
        default_factory=dict,
        description="spaCy pipelines other than the default, by language: an installed package or a folder",
    )
    cached_characters: int = Field(
        4_000_000, ge=0, description="how much text of documents each scoring process keeps parsed"
    )
    kept_parses: Path | None = Field(
        None,
        description="the file in which a worker keeps the parses of documents; unset: beside documents.store",
    )
    kept_parses_mib: int = Field(
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
