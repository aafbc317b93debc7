"""The generated files of the chart, each made from its only source elsewhere."""

from pathlib import Path
from typing import Final

from docs.generate.chart.chart_files import dashboard, defaults, rules, topics
from docs.generate.chart.chart_readme import readme
from docs.generate.chart.chart_values import read_values
from docs.generate.chart.values_schema import schema
from docs.generate.site.site_pages import ROOT

CHART: Final = ROOT / "helm" / "truthgate"


def chart_texts() -> dict[Path, str]:
    """Return the expected text of each generated file, by its path."""
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
