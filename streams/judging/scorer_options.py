"""What the settings say to the scorer beside its policy and profile."""

from __future__ import annotations

from dataclasses import replace

from scoring.assessing.options import ScorerOptions
from streams.documents.company_terms import terms_path
from streams.settings import Settings

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
