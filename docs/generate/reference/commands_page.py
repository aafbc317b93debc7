"""The page of all commands, from the application itself."""

from collections.abc import Iterator
from enum import Enum
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from docs.generate.reference.markdown_table import table
from streams.cli.command_output import ExitCode
from streams.cli.entry import NAME, app

_BEGINNING: Final = """\
# Commands and exit codes

This page is made from the code (`python -m docs.generate`); a test compares them.
`truthgate COMMAND --help` says the same of one command.

Every command takes its settings from the environment and from the file that `TRUTHGATE_CONFIG` or
`--config` names ([settings](settings.md)). What is asked for goes to standard output, everything else to
standard error.

## Exit codes
"""

_CODES: Final = {
    ExitCode.DONE: "done",
    ExitCode.BAD_INPUT: "some of the input was bad, or what was asked for is not there; the rest is done",
    ExitCode.WRONG_USAGE: "wrong usage or settings: nothing was done",
    ExitCode.UNREACHABLE: "a service cannot be reached, or lets nobody in: Kafka, a registry, a translator; "
    "or a worker's disk is full",
    ExitCode.SOFTWARE: "the program itself is at fault",
    ExitCode.INTERRUPTED: "interrupted, with Ctrl-C",
    ExitCode.BROKEN_PIPE: "who read the output does not any more",
}


def render() -> str:
    """Return the page, in Markdown."""
    codes = table(("code", "meaning"), ((f"`{code.value}`", _CODES[code]) for code in ExitCode))
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    return "\n".join([_BEGINNING, *codes, *_group(group, NAME)])


def leaves() -> dict[str, TyperCommand]:
    """Return all visible commands by their names, such as ``truthgate topics create``."""
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    return dict(_leaves(group, NAME))


def _leaves(group: TyperGroup, name: str) -> Iterator[tuple[str, TyperCommand]]:
    for own, command in group.commands.items():
        if isinstance(command, TyperGroup) and not command.hidden:
            yield from _leaves(command, f"{name} {own}")
        elif isinstance(command, TyperCommand) and not command.hidden:
            yield f"{name} {own}", command


def _group(group: TyperGroup, name: str) -> Iterator[str]:
    for full, command in _leaves(group, name):
        yield f"## `{full}`\n"
        yield f"{(command.help or '').strip()}\n"
        arguments = [each for each in command.params if isinstance(each, TyperArgument)]
        options = [each for each in command.params if isinstance(each, TyperOption) and not each.hidden]
        if arguments:
            yield from table(("argument", "meaning"), map(_argument, arguments))
        if options:
            yield from table(("option", "value", "default", "meaning"), map(_option, options))


def _argument(argument: TyperArgument) -> tuple[str, str]:
    name = argument.metavar or argument.opts[0].upper()
    return f"`{name.replace('|', '` or `')}`" + (
        "" if argument.required else ", may be left out"
    ), argument.help or ""


def _option(option: TyperOption) -> tuple[str, str, str, str]:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    repeated = ", may be repeated" if option.multiple and "repeated" not in (option.help or "") else ""
    return names, _value(option), _default(option), f"{option.help or ''}{repeated}"


def _value(option: TyperOption) -> str:
    if option.is_flag:
        return ""
    kind = _kind(option.type_descriptor.annotation)
    if choices := _choices(kind):
        return ", ".join(f"`{choice}`" for choice in choices)
    name = option.metavar or ("N" if kind in (int, float) else "TEXT")
    return f"`{name.replace('|', '` or `')}`{_limits(option)}"


def _kind(annotation: Any) -> Any:
    """Return the type of a list's items, or the type that is optional."""
    if get_origin(annotation) not in (list, tuple, Union, UnionType):
        return annotation
    return _kind(next(each for each in get_args(annotation) if each is not type(None)))


def _choices(kind: Any) -> tuple[str, ...]:
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(each.value for each in kind) if isinstance(kind, type) and issubclass(kind, Enum) else ()


def _limits(option: TyperOption) -> str:
    low, high = option.min, option.max
    if low is not None and high is not None:
        return f", from {low:g} to {high:g}"
    return f", at least {low:g}" if low is not None else f", at most {high:g}" if high is not None else ""


def _default(option: TyperOption) -> str:
    if option.required:
        return "required"
    default = option.default.value if isinstance(option.default, Enum) else option.default
    return "" if default in (None, "") or option.is_flag or callable(default) else f"`{default}`"
