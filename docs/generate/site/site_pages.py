"""The pages of the site: where each lies in the repository, and where on the site."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
DOCS: Final = ROOT / "docs"

#: Pages that stay in the room they are about, by their place in the repository: their place on the site.
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
    """Give the place on the site of every page, by its place in the repository."""
    own = {f"docs/{page.name}": page.name for page in sorted(DOCS.glob("*.md"))}
    return {**own, **INCLUDED_PAGES}


def source_of(place: str) -> str:
    """Give the place in the repository of what lies at a place on the site.

    Raises:
        KeyError: it has no such page.
    """
    return {there: here for here, there in pages().items()}[place]
