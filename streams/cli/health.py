"""``truthgate health``: the question whether the worker here is well, for health checks of containers."""

from __future__ import annotations

from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Annotated

import typer

from streams.cli.exits import CommandFailed, ExitCode, WrongUsage
from streams.cli.options import ConfigFile
from streams.cli.output import write_line
from streams.settings import WebSettings, load_settings

#: Below what a health check waits; a worker answers in milliseconds.
_SECONDS = 5.0
#: A reason is a sentence; whoever else listens on the port may say anything.
_LONGEST_REASON = 500
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
    status, said = _asked(load_settings(config).web, "/readyz" if ready else "/healthz")
    if status != HTTPStatus.OK:
        raise CommandFailed(f"the worker answers {status}: {said}")
    write_line(said)


def _asked(web: WebSettings, path: str) -> tuple[int, str]:
    """Give status and text of a page of the worker's; no proxy of the environment is asked for it."""
    if not web.port:
        raise WrongUsage("web.port is 0: the worker then takes any free port, and only its log tells which")
    connection = HTTPConnection(_EVERYWHERE.get(web.host, web.host), web.port, timeout=_SECONDS)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, " ".join(response.read(_LONGEST_REASON).decode(errors="replace").split())
    except (OSError, HTTPException) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise CommandFailed(
            f"nobody answers at {web.host}, port {web.port}: {reason}", ExitCode.UNREACHABLE
        ) from error
    finally:
        connection.close()
