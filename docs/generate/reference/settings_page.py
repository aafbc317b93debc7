"""The page of all settings, from the model of the settings itself."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from docs.generate.reference.markdown_table import table
from docs.generate.site.site_pages import ROOT
from streams.settings.setting_catalog import Setting, section_description

PAGE: Final = ROOT / "streams" / "settings" / "README.md"

_BEGINNING: Final = """\
# Settings

This page is generated from the code (`python -m docs.generate`); a test compares them.

Every setting is an environment variable or an entry of a TOML file named by `TRUTHGATE_CONFIG` or `--config`;
the environment wins. `web.port` is `TRUTHGATE_WEB__PORT`, and in the file `port` of the table `[web]`. Lists
and tables are JSON in a variable: `TRUTHGATE_POLICY__ASK='["middle_score"]'`. A misspelt setting stops the
start.

- `truthgate settings list` prints this page's contents; `--toml` writes a sample file.
- `truthgate settings show` prints the values in force, without secrets, and where each comes from.
- `truthgate settings check` prints errors, and settings that have no effect.

`[]` is an entry of a list, `<name>` a name of your choice. Without a default a setting is unset, or as its
meaning says.
"""


def render(settings: Iterable[Setting]) -> str:
    """Return the page, in Markdown."""
    return "\n".join([_BEGINNING, *_sections(settings)])


def _sections(settings: Iterable[Setting]) -> Iterator[str]:
    for section, entries in groupby(settings, lambda setting: setting.section):
        yield f"## `{section}`\n\n{section_description(section)}.\n"
        yield from table(("setting", "type", "default", "meaning"), map(_row, entries))


def _row(setting: Setting) -> tuple[str, str, str, str]:
    default = f"`{setting.default}`" if setting.default is not None else "required" * setting.required
    return f"`{setting.name}`", setting.type, default, setting.description
