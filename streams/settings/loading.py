"""Reading the settings, and one line that names what is wrong with them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError
from pydantic_settings import SettingsError

from scoring.values.readable import is_text
from streams.settings.base import DELIMITER, PREFIX, WrongSettings, one_line
from streams.settings.complaints import explained, nearest_variable
from streams.settings.config_file import chosen_file, config_file, refuse_unreadable_file
from streams.settings.whole import Settings

# Read by the embedded Kafka and by the tests, not by the settings.
_OTHER_VARIABLES = re.compile(r"CONFIG|KAFKA_HOME|TEST_\w+")

# The SDK of OpenTelemetry reads these by itself, when the worker starts.
_OPENTELEMETRY = "OTEL_"

# Kubernetes describes every Service to every pod; a Service called truthgate gives these. A name of its is a
# label of DNS: 63 characters.
_SERVICE_LINKS = re.compile(
    r"(\w{1,63}_)?(SERVICE_HOST|SERVICE_PORT(_\w{1,63})?|PORT_\d{1,5}_(TCP|UDP|SCTP)(_\w{1,63})?)"
)
_SERVICE_URL = re.compile(r"(tcp|udp|sctp)://")


def load_settings(config: Path | None = None) -> Settings:
    """Read the settings from the environment and ``config``, or the file that TRUTHGATE_CONFIG names.

    Raises:
        WrongSettings: in one line that names the variable or the setting, and never its value, which may be
            a secret.
    """
    token = chosen_file.set(config)
    try:
        _refuse_unknown_variables(os.environ)
        _refuse_what_is_no_text(os.environ)
        refuse_unreadable_file(config_file())
        return Settings()
    except ValidationError as error:
        raise WrongSettings("; ".join(explained(error, Settings))) from None
    except SettingsError as error:
        raise WrongSettings(_no_json(error)) from None
    finally:
        chosen_file.reset(token)


def _refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    # pydantic-settings looks only for the names it knows, so a misspelt one would change nothing, unseen.
    for variable, value in sorted(environ.items()):
        if variable.upper().startswith(PREFIX) and not _is_known(
            variable.upper().removeprefix(PREFIX), value
        ):
            raise WrongSettings(
                f"{variable} is not a setting of truthgate{nearest_variable(variable, Settings)}"
            )


def _refuse_what_is_no_text(environ: Mapping[str, str]) -> None:
    # What is set goes into verdicts, names of clients and metrics: none of them could be written.
    for variable, value in sorted(environ.items()):
        if variable.upper().startswith((PREFIX, _OPENTELEMETRY)) and not is_text(_unescaped(value)):
            raise WrongSettings(f"{variable} holds bytes that are no UTF-8, or half of a character")


def _unescaped(value: str) -> str:
    """Give the characters that a value has where it is read as JSON, else the value."""
    try:
        return json.dumps(json.loads(value), ensure_ascii=False)
    except (ValueError, RecursionError):
        return value


def _is_known(name: str, value: str) -> bool:
    section, delimiter, _ = name.partition(DELIMITER)
    if section.lower() in Settings.model_fields and (delimiter or value.lstrip().startswith("{")):
        return True
    return bool(
        _OTHER_VARIABLES.fullmatch(name)
        or _SERVICE_LINKS.fullmatch(name)
        or (name.endswith("PORT") and _SERVICE_URL.match(value))
    )


def _no_json(error: SettingsError) -> str:
    """Name the variable whose value was to be JSON; pydantic-settings names its section alone."""
    value, told = getattr(error.__cause__, "doc", None), str(error)
    for variable, text in sorted(os.environ.items()):
        section = variable.upper().removeprefix(PREFIX).partition(DELIMITER)[0].lower()
        if text == value and variable.upper().startswith(PREFIX) and f'"{section}"' in told:
            return f"{variable} should be JSON"
    return one_line(told)
