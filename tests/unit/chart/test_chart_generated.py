"""What is generated for the chart is what it is generated from."""

from pathlib import Path

import pytest

from docs.generate.chart import chart_texts
from docs.generate.chart.chart_values import Value, read_values
from tests.support.charts import CHART

GENERATED = chart_texts()


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_a_generated_file_is_not_stale(path: Path) -> None:
    assert path.read_text("utf-8") == GENERATED[path], "run `make generate`"


def test_every_mark_of_the_readme_is_replaced() -> None:
    assert "<!--" not in GENERATED[CHART / "README.md"].partition("\n")[2]


def test_every_value_is_described_and_stands_in_the_readme() -> None:
    def rows(value: Value) -> list[Value]:
        described = value.description or not value.children
        return [value] if described else [each for child in value.children for each in rows(child)]

    values = [each for value in read_values(CHART / "values.yaml") for each in rows(value)]
    assert [value.name for value in values if not value.description] == []
    readme = GENERATED[CHART / "README.md"]
    assert [value.name for value in values if f"| `{value.name}` |" not in readme] == []


def test_a_value_is_read_with_its_description_its_section_and_what_its_schema_adds(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(
        "## One\n\na:\n  # -- Of two\n  # lines.\n"
        '  # @schema {"enum": [1, 2]}\n  b: 1\n  c: {d: 2}\n'
        "## Two\ne: x\n"
    )
    a, e = read_values(file)
    b, c = a.children
    assert (a.section, e.section, e.description) == ("One", "Two", "")
    assert (b.name, b.default, b.description, b.schema) == ("a.b", 1, "Of two lines.", {"enum": [1, 2]})
    assert (c.default, c.children) == ({"d": 2}, ())
