"""The pages of the site: the path of each in the repository and on the site."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
DOCS: Final = ROOT / "docs"

#: Pages outside docs/: their path on the site, by their path in the repository.
INCLUDED_PAGES: Final = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "docs/examples/consumers/README.md": "consumer-examples.md",
    "helm/truthgate/README.md": "chart.md",
    "helm/truthgate/UPGRADING.md": "chart-upgrading.md",
    "scoring/README.md": "scoring.md",
    "scoring/judges/README.md": "judging-methods.md",
    "streams/monitoring/RUNBOOK.md": "runbook.md",
    "streams/sample/README.md": "sample.md",
    "streams/settings/README.md": "settings-reference.md",
    "streams/observability/README.md": "telemetry.md",
    "streams/observability/TRACES.md": "traces.md",
    "tests/benchmarks/README.md": "benchmarks.md",
    "tests/unit/judges/measured/README.md": "judging-measured.md",
    "training/README.md": "dutch-pipeline.md",
    "training/rated/README.md": "rated-answers.md",
    "training/verifier/README.md": "verifier.md",
}


def pages() -> dict[str, str]:
    """Return the path of every page on the site, by its path in the repository."""
    own = {f"docs/{page.name}": page.name for page in sorted(DOCS.glob("*.md"))}
    return {**own, **INCLUDED_PAGES}


def source_of(place: str) -> str:
    """Return the path in the repository of a path on the site.

    Raises:
        KeyError: it has no such page.
    """
    return {there: here for here, there in pages().items()}[place]
