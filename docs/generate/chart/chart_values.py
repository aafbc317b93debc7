"""The values of the chart as ``values.yaml`` has them: keys with their defaults, and the comments above them.

A comment that begins with ``# --`` describes the key below it, ``# @schema`` says in JSON what its default
does not show of its type, and ``## Heading`` begins a section.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_HEADING = re.compile(r"## (?P<heading>.+)")
_DESCRIPTION = "# --"
_SCHEMA = "# @schema "


@dataclass(frozen=True, slots=True)
class Value:
    """One key of the values.

    Attributes:
        path: its keys from the outermost.
        default: what the chart sets.
        section: the heading that it stands under.
        description: of its comment, empty where it has none.
        schema: what its comment adds to the schema.
        children: the keys below it, in their order.
    """

    path: tuple[str, ...]
    default: Any
    section: str
    description: str
    schema: Mapping[str, Any]
    children: tuple[Value, ...]

    @property
    def name(self) -> str:
        """The path as Helm's ``--set`` takes it."""
        return ".".join(self.path)


def read_values(file: Path) -> tuple[Value, ...]:
    """Read the outermost keys of a file of values, with all below them."""
    text = file.read_text("utf-8")
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(node, yaml.MappingNode)
    return tuple(_ValuesReader(text.splitlines(), yaml.safe_load(text)).keys(node, ()))


class _ValuesReader:
    def __init__(self, lines: Sequence[str], defaults: Any) -> None:
        self._lines = lines
        self._defaults = defaults

    def keys(self, node: yaml.MappingNode, path: tuple[str, ...]) -> Iterator[Value]:
        for key, below in node.value:
            inner = (*path, key.value)
            comment = self._comment(key.start_mark.line)
            # A mapping in braces is one value: its keys cannot have comments of their own.
            block = isinstance(below, yaml.MappingNode) and not below.flow_style
            yield Value(
                inner,
                self._default(inner),
                self._section(key.start_mark.line),
                _description(comment),
                _schema(comment),
                tuple(self.keys(below, inner)) if block else (),
            )

    def _default(self, path: tuple[str, ...]) -> Any:
        found = self._defaults
        for key in path:
            found = found[key]
        return found

    def _comment(self, line: int) -> list[str]:
        """Return the lines of the comment directly above a line."""
        begin = line
        while begin and self._lines[begin - 1].lstrip().startswith("# "):
            begin -= 1
        return [each.strip() for each in self._lines[begin:line]]

    def _section(self, line: int) -> str:
        for each in reversed(self._lines[:line]):
            if heading := _HEADING.fullmatch(each):
                return heading["heading"]
        return ""


def _description(comment: Sequence[str]) -> str:
    words = [each for each in comment if not each.startswith(_SCHEMA)]
    if not words or not words[0].startswith(_DESCRIPTION):
        return ""
    return " ".join(each.removeprefix(_DESCRIPTION).removeprefix("#").strip() for each in words)


def _schema(comment: Sequence[str]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for each in comment:
        if each.startswith(_SCHEMA):
            found |= json.loads(each.removeprefix(_SCHEMA))
    return found
