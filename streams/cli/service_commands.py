"""`truthgate worker`, `truthgate serve`, `truthgate desk` and `truthgate health`."""

from http import HTTPStatus
from typing import Annotated

import httpx2
import typer

from streams.cli.command_output import CommandErrors, CommandFailed, ExitCode, UsageError, write_line
from streams.cli.common_options import (
    ConfigFile,
    ProcessesOption,
    ProfileOption,
    TranslateOption,
    apply_options,
)
from streams.cli.document_sources import AnswersDocuments, DocumentLanguages, FromKafka, read_documents
from streams.documents.company_terms import offline_terms
from streams.pipeline.context import StaticDocuments
from streams.settings import InvalidSettings, load_settings

#: Shorter than the timeout of health checks; a worker answers in milliseconds.
_HEALTH_TIMEOUT_SECONDS = 5.0
#: A reason is a sentence; another program on the port may send anything.
_MAX_REASON_BYTES = 500
#: Addresses that a worker listens on and that cannot be connected to, with those that can.
_LOOPBACK_OF = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing listens here


def worker(config: ConfigFile = None) -> None:
    """Run the worker, which reads answers and publishes verdicts, until SIGTERM or Ctrl-C.

    Settings come from environment variables, a TOML file, or both.

    Example: `TRUTHGATE_KAFKA__BOOTSTRAP_SERVERS=kafka:9092 truthgate worker --config truthgate.toml`
    """
    # Faust and the scorer take a second to import.
    from streams.worker.run_worker import report_invalid_settings, run_worker  # noqa: PLC0415

    try:
        settings = load_settings(config)
    except InvalidSettings as error:
        raise typer.Exit(report_invalid_settings(error)) from error
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
    """Serve verdicts over HTTP at `/v1/verdicts`, with or without a broker, until Ctrl-C.

    It listens on web.port (6066): on the loopback interface only, unless web.verdicts.token is set, which
    clients then send as a bearer token. `/v1/openapi.json` describes the API; `/healthz`, `/readyz` and
    `/metrics` are those of a worker. Documents are read once, at the start: a bad line or page is named on
    standard error, and the others are used. web.verdicts has the limits; with policy.pause nothing is sent.

    If kafka.bootstrap_servers is set, or with --from-kafka, it follows the pauses of sending there
    (`truthgate pause`), and with web.verdicts.publish it also publishes its verdicts.

    Example: `truthgate serve --documents help.jsonl`
    """
    # Faust's types and the web server take half a second to import, which other commands do without.
    from streams.worker.run_server import run_server, server_settings  # noqa: PLC0415

    settings = server_settings(load_settings(config), from_kafka=from_kafka)
    settings, _ = apply_options(settings, processes, None, profile, translate)
    known = read_documents(documents, documents_language, settings, CommandErrors(), from_kafka=from_kafka)
    static = StaticDocuments.of(known).by_id.values()
    with offline_terms(settings, static, [settings.scoring.profile]) as settings:
        raise typer.Exit(run_server(settings, known))


def desk(config: ConfigFile = None) -> None:
    """Serve the review desk, where people decide about answers that wait, until SIGTERM or Ctrl-C.

    It listens on desk.port (6067): on the loopback interface only, unless reviewers log in by an OpenID
    Connect issuer, a trusted proxy or a token. Decisions are published to `reviews`; until Kafka has them
    they are stored in desk.store. `/healthz`, `/readyz` and `/metrics` are like those of a worker.

    Example: `TRUTHGATE_KAFKA__BOOTSTRAP_SERVERS=kafka:9092 truthgate desk`
    """
    # The web server and the templates take half a second to import.
    from streams.worker.run_desk import run_desk  # noqa: PLC0415

    raise typer.Exit(run_desk(load_settings(config)))


def health(
    ready: Annotated[
        bool, typer.Option("--ready", help="Ask for readiness to score answers, not only for liveness.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Ask the worker of this machine or container for its health, at `web.host` and `web.port`.

    Exit code 0 if it is healthy, 1 if not, with the reason, and 3 if it does not answer.

    Example: `truthgate health --ready`
    """
    web = load_settings(config).web
    if not web.port:
        raise UsageError("web.port is 0: the worker listens on any free port, which only its log names")
    path, host = "/readyz" if ready else "/healthz", _LOOPBACK_OF.get(web.host, web.host)
    url = httpx2.URL(scheme="http", host=host, port=web.port, path=path)
    try:
        with (
            # Without a proxy of the environment.
            httpx2.Client(timeout=_HEALTH_TIMEOUT_SECONDS, trust_env=False) as client,
            client.stream("GET", url) as response,
        ):
            body = next(response.iter_bytes(_MAX_REASON_BYTES), b"")
    except httpx2.RequestError as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        message = f"no worker answers at {web.host}, port {web.port}: {reason}"
        raise CommandFailed(message, ExitCode.UNREACHABLE) from error
    reason = " ".join(body.decode(errors="replace").split())
    if response.status_code != HTTPStatus.OK:
        raise CommandFailed(f"the worker answers {response.status_code}: {reason}")
    write_line(reason)
