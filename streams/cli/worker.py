"""``truthgate worker``: the stream processor itself."""

from __future__ import annotations

import typer

from streams.cli.options import ConfigFile
from streams.settings import load_settings


def worker(config: ConfigFile = None) -> None:
    """Run the worker: answers in, verdicts out, until it is told to stop (SIGTERM, Ctrl-C).

    Configured by the environment, a TOML file, or both.

    Example: `TRUTHGATE_KAFKA__BOOTSTRAP_SERVERS=kafka:9092 truthgate worker --config truthgate.toml`
    """
    settings = load_settings(config)
    from streams.worker.run import run_worker  # noqa: PLC0415 - Faust and the scorer take a second to import

    raise typer.Exit(run_worker(settings))
