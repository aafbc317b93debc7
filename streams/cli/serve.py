"""``truthgate serve``: judge over HTTP, with or without a broker."""

from __future__ import annotations

import typer

from streams.answers.context import GivenDocuments
from streams.cli.knowledge import (
    AnswersDocuments,
    DocumentLanguages,
    FromKafka,
    complaints_of,
    documents_to_search,
)
from streams.cli.options import ConfigFile
from streams.cli.scoring_options import (
    ProcessesOption,
    ProfileOption,
    TranslateOption,
    chosen,
    started,
    tell_if_untranslated,
    translated,
)
from streams.documents.company_terms import offline_terms
from streams.settings import load_settings


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
    standard error, and the others count. web.verdicts has the limits; with policy.hold nothing is sent.

    Where kafka.bootstrap_servers is set, or with --from-kafka, it follows the holds on sending there
    (`truthgate hold`), and with web.verdicts.publish its verdicts are on the topics too.

    Example: `truthgate serve --documents help.jsonl`
    """
    # Faust's types and the web server take half a second to import, which other commands do without.
    from streams.server import run_server  # noqa: PLC0415
    from streams.server.run import for_serving  # noqa: PLC0415

    settings = for_serving(chosen(load_settings(config), profile, processes), from_kafka=from_kafka)
    settings = tell_if_untranslated(translated(settings, translate))
    settings, _ = started(settings, None)
    complaints = complaints_of(documents)
    known = documents_to_search(documents, documents_language, settings, complaints, from_kafka=from_kafka)
    given = GivenDocuments.of(known).by_id.values()
    with offline_terms(settings, given, [settings.scoring.profile]) as settings:
        raise typer.Exit(run_server(settings, known))
