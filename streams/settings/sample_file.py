"""A sample file of all settings, from the model of the settings itself."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from streams.settings.setting_catalog import ANY_ENTRY, ANY_KEY, Setting

#: Stands where a name of one's own choice does, which TOML takes.
_OWN_NAME = "name"
#: What is told by the tables of its entries alone, which TOML takes beside no value.
_EMPTY = ("[]", "{}")

_SAMPLE_BEGINNING = """\
# Every setting of truthgate, as it is shipped. Take the mark away from the lines that you change, and from
# the [table] above them where it has one. What is "unset" has no default: the value there is to be replaced,
# and so is "name" in the name of a table.
# Secrets are better kept in environment variables: kafka.sasl_password is TRUTHGATE_KAFKA__SASL_PASSWORD.
"""


def sample(settings: Iterable[Setting]) -> str:
    """Give a file of all settings, in TOML, with their defaults as comments: it changes nothing as it is."""
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
    """Tell what an entry of a list may have that is given as a whole: TOML has no second way beside it."""
    told = [f"# {setting.name.rpartition('.')[2]}: {_comment(setting)[2:]}" for setting in entries]
    return "\n".join([f"# Each entry of {name.replace(ANY_ENTRY, '')} has:", *told, ""])


def _comment(setting: Setting) -> str:
    return f"# {setting.description} ({setting.type})"


def _head(name: str, *, optional: bool) -> str:
    if ANY_ENTRY in name:
        return f"#[[{name.replace(ANY_ENTRY, '')}]]"
    if ANY_KEY in name:
        return f"#[{name.replace(ANY_KEY, _OWN_NAME)}]"
    # A table that must have something in it is there only with that.
    return f"#[{name}]" if optional else f"[{name}]"


def _value(setting: Setting) -> str:
    """Give the default, or a value of the right kind that is to be replaced."""
    if setting.default is not None:
        return _toml(json.loads(setting.default))
    first = setting.type.split()[0]
    stand_in = {"whole": "1", "number": "1", "true": "true", "list": "[]", "table": "{}"}.get(first)
    choice = f'"{first}"' if " or " in setting.type else '""'
    return f"{stand_in or choice}  # {'required' if setting.required else 'unset'}"


def _toml(value: Any) -> str:
    """Write what JSON can say, but for null, as a value of TOML on one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_toml(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
