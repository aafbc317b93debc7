"""`truthgate worker`, `truthgate serve` and `truthgate health`."""

from http import HTTPStatus
from typing import Annotated

import httpx2
import typer

from streams.cli.command_output import CommandFailed, ExitCode, UsageError, write_line
from streams.cli.common_options import ConfigFile
from streams.cli.document_sources import (
    AnswersDocuments,
    DocumentLanguages,
    FromKafka,
    errors_for,
    read_documents,
)
from streams.cli.scoring_options import (
    ProcessesOption,
    ProfileOption,
    TranslateOption,
    apply_options,
    prepare_processes,
    with_translation_mode,
)
from streams.documents.company_terms import offline_terms
from streams.pipeline.context import StaticDocuments
from streams.settings import WebSettings, load_settings


def worker(config: ConfigFile = None) -> None:
    """Run the worker: answers in, verdicts out, until it is told to stop (SIGTERM, Ctrl-C).

    Configured by the environment, a TOML file, or both.

    Example: `TRUTHGATE_KAFKA__BOOTSTRAP_SERVERS=kafka:9092 truthgate worker --config truthgate.toml`
    """
    settings = load_settings(config)
    from streams.worker.run_worker import run_worker  # noqa: PLC0415 - Faust and the scorer take a second to import

    raise typer.Exit(run_worker(settings))


def serve(
    documents: AnswersDocuments = None,
    documents_language: DocumentLanguages = None,
    from_kafka: FromKafka = False,
    profile: ProfileOption = None,
    translate: TranslateOption = None,
    processes: ProcessesOption = None,
    config: ConfigFile = None,
) -> None:
    """Judge answers that are posted to `/v1/verdicts`, with or without a broker, until told to stop (Ctrl-C).

    It listens at web.port (6066): for this machine alone, unless web.verdicts.token is set, which clients
    then send as a bearer token. `/v1/openapi.json` describes it; `/healthz`, `/readyz` and `/metrics` are
    those of a worker. Documents are read once, at the start: a line or page that cannot be used is named on
    standard error, and the others count. web.verdicts has the limits; with policy.pause nothing is sent.

    Where kafka.bootstrap_servers is set, or with --from-kafka, it follows the pauses of sending there
    (`truthgate pause`), and with web.verdicts.publish its verdicts are on the topics too.

    Example: `truthgate serve --documents help.jsonl`
    """
    # Faust's types and the web server take half a second to import, which other commands do without.
    from streams.worker.run_server import run_server, server_settings  # noqa: PLC0415

    settings = server_settings(
        apply_options(load_settings(config), profile, processes), from_kafka=from_kafka
    )
    settings = with_translation_mode(settings, translate)
    settings, _ = prepare_processes(settings, None)
    complaints = errors_for(documents)
    known = read_documents(documents, documents_language, settings, complaints, from_kafka=from_kafka)
    given = StaticDocuments.of(known).by_id.values()
    with offline_terms(settings, given, [settings.scoring.profile]) as settings:
        raise typer.Exit(run_server(settings, known))


#: Below what a health check waits; a worker answers in milliseconds.
_SECONDS = 5.0
#: A reason is a sentence; whoever else listens on the port may say anything.
_MAX_REASON_BYTES = 500
#: Addresses that are listened on and cannot be asked, and what is asked in their place.
_EVERYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing listens here


def health(
    ready: Annotated[
        bool, typer.Option("--ready", help="Ask whether it can judge answers now, not only whether it lives.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Ask the worker of this machine or container whether it is well, at `web.host` and `web.port`.

    Exit code 0 when it is, 1 when it is not, with the reason, and 3 when nobody answers.

    Example: `truthgate health --ready`
    """
    status, said = _fetch_status(load_settings(config).web, "/readyz" if ready else "/healthz")
    if status != HTTPStatus.OK:
        raise CommandFailed(f"the worker answers {status}: {said}")
    write_line(said)


def _fetch_status(web: WebSettings, path: str) -> tuple[int, str]:
    """Give status and text of a page of the worker's; no proxy of the environment is asked for it."""
    if not web.port:
        raise UsageError("web.port is 0: the worker then takes any free port, and only its log tells which")
    host = _EVERYWHERE.get(web.host, web.host)
    url = httpx2.URL(scheme="http", host=host, port=web.port, path=path)
    try:
        with (
            httpx2.Client(timeout=_SECONDS, trust_env=False) as client,
            client.stream("GET", url) as response,
        ):
            body = next(response.iter_bytes(_MAX_REASON_BYTES), b"")
    except httpx2.RequestError as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise CommandFailed(
            f"nobody answers at {web.host}, port {web.port}: {reason}", ExitCode.UNREACHABLE
        ) from error
    return response.status_code, " ".join(body.decode(errors="replace").split())
