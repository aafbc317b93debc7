"""The README of the chart: its template, with the values as tables and the names of secrets."""

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from docs.generate.chart.chart_values import Value
from docs.generate.chart.secret_paths import secret_settings

_MADE: Final = "<!-- Made by `make generate` from README.template.md, values.yaml and the settings. -->"
_VALUES: Final = "<!-- values -->\n"
_SECRETS: Final = "<!-- secrets -->\n"
_MAX_DEFAULT_CHARACTERS = 60


def readme(template: str, values: Iterable[Value]) -> str:
    """Return the template with its placeholders replaced by the tables."""
    secrets = ", ".join(f"`{path}`" for path in secret_settings())
    filled = template.replace(_VALUES, "\n".join(_sections(values))).replace(_SECRETS, f"{secrets}\n")
    return f"{_MADE}\n{filled}"


def _sections(values: Iterable[Value]) -> Iterator[str]:
    for section, members in groupby(values, lambda value: value.section):
        yield f"### {section}\n"
        yield "| value | default | |"
        yield "|---|---|---|"
        for member in members:
            yield from _rows(member)
        yield ""


def _rows(value: Value) -> Iterator[str]:
    """Yield the row of a key if it has a description or no keys below it, and the rows of those."""
    if value.description or not value.children:
        shown = "" if value.children and _describes(value.children) else _shown(value.default)
        yield _row(value.name, shown, value.description)
    if not value.description or _describes(value.children):
        for child in value.children:
            yield from _rows(child)


def _describes(values: Iterable[Value]) -> bool:
    return any(value.description or _describes(value.children) for value in values)


def _shown(default: Any) -> str:
    text = json.dumps(default, ensure_ascii=False)
    return f"`{text}`" if len(text) <= _MAX_DEFAULT_CHARACTERS else "see `values.yaml`"


def _row(name: str, default: str, description: str) -> str:
    return f"| `{name}` | {default} | {description.replace('|', chr(92) + '|')} |"
