"""The sample configuration file, made from the settings model."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from streams.settings.setting_catalog import ANY_ENTRY, ANY_KEY, Setting

#: The placeholder for a freely chosen name in TOML.
_OWN_NAME = "name"
#: Defaults that are described by the tables of their entries, because TOML forbids both.
_EMPTY = ("[]", "{}")

_SAMPLE_BEGINNING = """\
# Every setting of truthgate with its default. Uncomment the lines that you change, and the [table] above them
# if it is commented out. "unset" marks a setting without default: replace its value, and "name" in the name
# of a table.
# Set secrets as environment variables instead: kafka.sasl_password is TRUTHGATE_KAFKA__SASL_PASSWORD.
"""


def sample(settings: Iterable[Setting]) -> str:
    """Return a TOML file of all settings with their defaults as comments: unchanged, it has no effect."""
    found = list(settings)
    inline = tuple(
        f"{each.name}{ANY_ENTRY}"
        for each in found
        if (each.default or "").startswith("[") and each.default != "[]"
    )
    tables: dict[str, list[Setting]] = {}
    for setting in found:
        tables.setdefault(setting.name.rpartition(".")[0], []).append(setting)
    written = [
        _entries(name, entries) if name in inline else _table(name, entries, tables)
        for name, entries in tables.items()
    ]
    return "\n".join([_SAMPLE_BEGINNING, *written])


def _table(name: str, entries: Sequence[Setting], tables: Collection[str]) -> str:
    lines = [_head(name, optional=any(setting.required for setting in entries))]
    for setting in entries:
        key = setting.name.rpartition(".")[2]
        entries_of = {f"{setting.name}{ANY_ENTRY}", f"{setting.name}.{ANY_KEY}"}
        if setting.default in _EMPTY and not entries_of.isdisjoint(tables):
            lines.append(f"# {key}, in tables below: {_comment(setting)[2:]}")
        else:
            lines += [_comment(setting), f"#{key} = {_value(setting)}"]
    return "\n".join([*lines, ""])


def _entries(name: str, entries: Iterable[Setting]) -> str:
    """Describe the entries of a list that has a default: TOML has no second syntax for it."""
    lines = [f"# {setting.name.rpartition('.')[2]}: {_comment(setting)[2:]}" for setting in entries]
    return "\n".join([f"# Each entry of {name.replace(ANY_ENTRY, '')} has:", *lines, ""])


def _comment(setting: Setting) -> str:
    return f"# {setting.description} ({setting.type})"


def _head(name: str, *, optional: bool) -> str:
    if ANY_ENTRY in name:
        return f"#[[{name.replace(ANY_ENTRY, '')}]]"
    if ANY_KEY in name:
        return f"#[{name.replace(ANY_KEY, _OWN_NAME)}]"
    # A table with required settings is only valid with them.
    return f"#[{name}]" if optional else f"[{name}]"


def _value(setting: Setting) -> str:
    """Return the default, or a placeholder of the right type."""
    if setting.default is not None:
        return _toml(json.loads(setting.default))
    first = setting.type.split()[0]
    stand_in = {"whole": "1", "number": "1", "true": "true", "list": "[]", "table": "{}"}.get(first)
    choice = f'"{first}"' if " or " in setting.type else '""'
    return f"{stand_in or choice}  # {'required' if setting.required else 'unset'}"


def _toml(value: Any) -> str:
    """Render a JSON value, except null, as TOML on one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_toml(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
