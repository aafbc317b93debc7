"""The options of the scorer from the settings, and its interface to the pipeline."""

from dataclasses import replace
from typing import Protocol

from scoring.scorer.scorer import ScorerOptions
from scoring.text.language_detection import language_code
from scoring.values.exchange import Exchange, MessageType
from scoring.values.rules import Reason
from scoring.values.scored_answer import ScoredAnswer
from scoring.verifier.onnx import VerifierUnavailable, open_verifier
from streams.documents.company_terms import terms_path
from streams.settings import InvalidSettings, Settings


class AsyncScorer(Protocol):
    """Scores an exchange: the pool of scoring processes, or a stand-in for disabled scoring."""

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        """Score one exchange; ``degraded`` are the codes of what is already known to be missing.

        Raises:
            TimeoutError: scoring took too long.
            BadAnswer: the scorer failed on this answer.
            InfrastructureFailure: no scorer is available any more.
        """


class DisabledScorer:
    """Scores nothing: every answer is degraded ``scoring_disabled``, which sends it to review."""

    def __init__(self, profile: str) -> None:
        self._profile = profile

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        """Return a result without a score."""
        return unscored_answer(self._profile, exchange.language, (Reason.SCORING_DISABLED, *degraded))


def unscored_answer(profile: str, language: str | None, degraded: tuple[str, ...]) -> ScoredAnswer:
    """Return the result for an answer that could not be scored.

    ``language`` is what the sender stated; anything but a language code is left out.
    """
    return ScoredAnswer(
        None, MessageType.UNSPECIFIED, language_code(language), degraded=degraded, profile=profile
    )


PARSE_CACHE_FILE_NAME = "prepared.sqlite3"


def scorer_options(settings: Settings, *, on_demand: bool = False) -> ScorerOptions:
    """Return the options that every scoring process is started with."""
    return ScorerOptions(
        pipelines=tuple(settings.scoring.pipelines.items()),
        company_terms=terms_path(settings),
        lexicons=settings.scoring.lexicons,
        verifier=settings.scoring.verifier.folder,
        verifier_seconds=settings.scoring.verifier.timeout_seconds,
        on_demand=on_demand,
    )


def worker_options(settings: Settings) -> ScorerOptions:
    """Return the options of a worker, which caches parses of documents for its processes and its next start.

    Commands that score a file do not: they would leave an unexpected copy of the documents on disk.
    """
    scoring = settings.scoring
    options = scorer_options(settings)
    if not scoring.parse_cache_mib:
        return options
    parse_cache = settings.documents.store / PARSE_CACHE_FILE_NAME
    return replace(options, parse_cache=parse_cache, parse_cache_mib=scoring.parse_cache_mib)


def check_verifier(settings: Settings) -> None:
    """Check that the verifier can be opened, if one is set; raises InvalidSettings if not."""
    folder = settings.scoring.verifier.folder
    try:
        if folder is not None:
            open_verifier(folder)
    except VerifierUnavailable as error:
        raise InvalidSettings(f"scoring.verifier.folder: {' '.join(str(error).split())}") from error
