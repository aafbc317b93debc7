"""What the settings say to the scorer beside its policy and profile."""

from __future__ import annotations

from scoring.options import ScorerOptions
from streams.enrichment.company_terms import terms_path
from streams.settings import Settings


def scorer_options(settings: Settings) -> ScorerOptions:
    """Return the options that every scoring process is started with."""
    return ScorerOptions(
        pipelines=tuple(settings.scoring.pipelines.items()),
        company_terms=terms_path(settings),
        lexicons=settings.scoring.lexicons,
        cached_characters=settings.scoring.cached_characters,
    )
