"""The generated files of the chart, each made of what stands elsewhere once.

``python -m helm.generate`` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from helm.generate.files import dashboard, defaults, rules, topics
from helm.generate.readme import readme
from helm.generate.schema import schema
from helm.generate.values import read_values

CHART: Final = Path(__file__).parents[1] / "truthgate"


def generated() -> Mapping[Path, str]:
    """Give the text that each generated file should have, by its path."""
    values = read_values(CHART / "values.yaml")
    template = (CHART / "README.template.md").read_text("utf-8")
    return {
        CHART / "values.schema.json": schema(values),
        CHART / "README.md": readme(template, values),
        CHART / "files" / "defaults.json": defaults(),
        CHART / "files" / "topics.json": topics(),
        CHART / "files" / "rules.json": rules(),
        CHART / "files" / "dashboard.json": dashboard(),
    }
