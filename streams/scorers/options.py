"""The options of the scorer that the settings name, and what a worker asks of it."""

from dataclasses import replace
from typing import Protocol

from scoring.scorer.scorer import ScorerOptions
from scoring.text.language import stated_language
from scoring.values.assessment import Assessment
from scoring.values.rules import Reason
from scoring.values.types import Exchange, MessageType
from scoring.verifier.onnx import open_verifier
from scoring.verifier.verifying import NoVerifier
from streams.documents.company_terms import terms_path
from streams.settings import Settings, WrongSettings


class Assessor(Protocol):
    """Whoever assesses an exchange: the pool of scoring processes, or a stand-in that measures nothing."""

    async def assess(self, exchange: Exchange, degraded: tuple[str, ...]) -> Assessment:
        """Assess one exchange; ``degraded`` are the codes of what is already known to be missing.

        Raises:
            TimeoutError: the scorer took longer than one answer may.
            BadAnswer: the scorer failed on this answer.
            InfrastructureFailure: there is no scorer any more.
        """


class ScoringOff:
    """Measures nothing: every answer is degraded ``scoring_disabled``, which holds it for review."""

    def __init__(self, profile: str) -> None:
        self._profile = profile

    async def assess(self, exchange: Exchange, degraded: tuple[str, ...]) -> Assessment:
        """Leave the answer without a score."""
        return unassessed(self._profile, exchange.language, (Reason.SCORING_DISABLED, *degraded))


def unassessed(profile: str, language: str | None, degraded: tuple[str, ...]) -> Assessment:
    """Return the assessment of an answer that nobody could assess: no score.

    ``language`` is what the sender stated; anything but a language code is left out.
    """
    return Assessment(
        None, MessageType.UNSPECIFIED, stated_language(language), degraded=degraded, profile=profile
    )


PREPARED_NAME = "prepared.sqlite3"


def scorer_options(settings: Settings, *, on_demand: bool = False) -> ScorerOptions:
    """Return the options that every scoring process is started with."""
    return ScorerOptions(
        pipelines=tuple(settings.scoring.pipelines.items()),
        company_terms=terms_path(settings),
        lexicons=settings.scoring.lexicons,
        cached_characters=settings.scoring.cached_characters,
        verifier=settings.scoring.verifier.folder,
        verifier_seconds=settings.scoring.verifier.seconds,
        on_demand=on_demand,
    )


def worker_options(settings: Settings) -> ScorerOptions:
    """Return the options of a worker, which keeps what it has parsed for its processes and its next start.

    Commands that score a file keep nothing: they would leave a copy of the documents that nobody asked for.
    """
    scoring = settings.scoring
    options = scorer_options(settings)
    if not scoring.kept_parses_mib:
        return options
    kept_parses = scoring.kept_parses or settings.documents.store / PREPARED_NAME
    return replace(options, kept_parses=kept_parses, kept_parses_mib=scoring.kept_parses_mib)


def check_verifier(settings: Settings) -> None:
    """Open the verifier, if one is named, and let go of it; raises WrongSettings where it cannot be."""
    folder = settings.scoring.verifier.folder
    try:
        if folder is not None:
            open_verifier(folder)
    except NoVerifier as error:
        raise WrongSettings(f"scoring.verifier.folder: {' '.join(str(error).split())}") from error
