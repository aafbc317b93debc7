"""Writes the reference page of all settings, and a sample file, from the model of the settings itself.

``python -m streams.settings.reference`` writes the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from streams.settings.described import ANY_ENTRY, ANY_KEY, Setting, described, meaning_of_section

PAGE = Path(__file__).with_name("README.md")

_BEGINNING = """\
# Settings

This page is made from the code (`python -m streams.settings.reference`); a test compares them.

Every setting is an environment variable or an entry of a TOML file, named by `TRUTHGATE_CONFIG` or
`--config`; the environment wins. `web.port` is `TRUTHGATE_WEB__PORT`, and in the file `port` of the table
`[web]`. Lists and tables are JSON in a variable: `TRUTHGATE_POLICY__ASK='["middle_score"]'`. A misspelt
setting stops the start.

- `truthgate settings list` says what is on this page; `--toml` writes a sample file.
- `truthgate settings show` says what is in force, without secrets, and where each setting comes from.
- `truthgate settings check` says what is wrong, and what is set and changes nothing.

`[]` is an entry of a list, `<name>` a name of your choice. No default: unset, or as the meaning says.
"""

_SAMPLE_BEGINNING = """\
# Every setting of truthgate, as it is shipped. Take the mark away from the lines that you change, and from
# the [table] above them where it has one.
# Secrets are better kept in environment variables: kafka.sasl_password is TRUTHGATE_KAFKA__SASL_PASSWORD.
"""


def render(settings: Iterable[Setting]) -> str:
    """Give the reference page, in Markdown."""
    return "\n".join([_BEGINNING, *_sections(settings)])


def sample(settings: Iterable[Setting]) -> str:
    """Give a file of all settings, in TOML, with their defaults as comments: it changes nothing as it is."""
    tables: dict[str, list[Setting]] = {}
    for setting in settings:
        tables.setdefault(setting.name.rpartition(".")[0], []).append(setting)
    return "\n".join([_SAMPLE_BEGINNING, *(_table(name, entries) for name, entries in tables.items())])


def _sections(settings: Iterable[Setting]) -> Iterator[str]:
    for section, entries in groupby(settings, lambda setting: setting.section):
        yield f"## `{section}`\n\n{meaning_of_section(section)}.\n"
        yield "| setting | type | default | meaning |"
        yield "|---|---|---|---|"
        yield from map(_row, entries)
        yield ""


def _row(setting: Setting) -> str:
    default = f"`{setting.default}`" if setting.default is not None else "required" * setting.required
    cells = (f"`{setting.name}`", setting.type, default, setting.meaning)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _table(name: str, entries: Iterable[Setting]) -> str:
    entries = tuple(entries)
    lines = [_head(name, optional=any(setting.required for setting in entries))]
    for setting in entries:
        key, default = setting.name.rpartition(".")[2], setting.default
        value = _toml(json.loads(default)) if default is not None else ""
        lines += [f"# {setting.meaning} ({setting.type})", f"#{key} = {value}".rstrip()]
    return "\n".join([*lines, ""])


def _head(name: str, *, optional: bool) -> str:
    if ANY_ENTRY in name:
        return f"#[[{name.replace(ANY_ENTRY, '')}]]"
    # A table that must have something in it is there only with that.
    return f"#[{name}]" if ANY_KEY in name or optional else f"[{name}]"


def _toml(value: Any) -> str:
    """Write what JSON can say, but for null, as a value of TOML on one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_toml(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    PAGE.write_text(render(described()), encoding="utf-8")
