"""Loading of the settings; each error is one line that names the setting."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from scoring.values.exchange import is_encodable
from streams.settings.root_settings import (
    Settings,
    config_file,
    config_file_override,
    refuse_unreadable_file,
    settings_sources,
)
from streams.settings.settings_base import ENV_DELIMITER, ENV_PREFIX, InvalidSettings
from streams.settings.settings_errors import error_messages, variable_hint


class _ArgumentSettings(Settings):
    """Settings from arguments only, without other sources."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - a name of pydantic's
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use arguments only."""
        return (init_settings,)


def usable_settings(error: ValidationError) -> Settings | None:
    """Return the settings without the values that ``error`` refuses, or None if the rest is invalid too."""
    values: dict[str, Any] = {}
    for source in reversed(settings_sources(Settings)):
        values = _merge(values, source())
    places = [each["loc"] for each in error.errors(include_url=False, include_context=False)]
    for locations in (places, [place[:1] for place in places]):
        for loc in locations:
            _drop(values, loc)
        with suppress(ValidationError):
            return Settings.model_construct(**dict(_ArgumentSettings(**values)))
    return None


def _merge(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for name, value in overlay.items():
        both = isinstance(value, dict) and isinstance(merged.get(name), dict)
        merged[name] = _merge(merged[name], value) if both else value
    return merged


def _drop(values: dict[str, Any], loc: Iterable[int | str]) -> None:
    """Remove the value at a location, or its smallest enclosing value, e.g. a list with the entry."""
    first, *others = map(str, loc)
    holder, name = values, first
    for part in others:
        inner = holder.get(name)
        if not isinstance(inner, dict) or part not in inner:
            break
        holder, name = inner, part
    holder.pop(name, None)


# Variables of the embedded Kafka and the tests.
_OTHER_VARIABLES = re.compile(r"CONFIG|KAFKA_HOME|TEST_\w+")

# The OpenTelemetry SDK reads these at the start of a worker.
_OPENTELEMETRY = "OTEL_"

# Kubernetes sets these for every Service in every pod, here for one named truthgate. A port's name is a
# DNS label: 63 characters.
_SERVICE_LINKS = re.compile(
    r"(\w{1,63}_)?(SERVICE_HOST|SERVICE_PORT(_\w{1,63})?|PORT_\d{1,5}_(TCP|UDP|SCTP)(_\w{1,63})?)"
)
_SERVICE_URL = re.compile(r"(tcp|udp|sctp)://")


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The result of reading the settings.

    Attributes:
        settings: with invalid values at their defaults; None if the rest cannot be validated.
        errors: one line each, with the variable or setting, and without secrets.
    """

    settings: Settings | None
    errors: tuple[str, ...] = ()


def load_settings(config: Path | None = None) -> Settings:
    """Read the settings from the environment and ``config``, or the file that TRUTHGATE_CONFIG names.

    Raises:
        InvalidSettings: one line per error, see ``LoadedSettings``.
    """
    reading = read_settings(config)
    if reading.errors or reading.settings is None:
        raise InvalidSettings(*reading.errors)
    return reading.settings


def read_settings(config: Path | None = None) -> LoadedSettings:
    """Read the settings as far as possible, and report all errors."""
    token = config_file_override.set(config)
    unknown = tuple(_unknown_variables(os.environ))
    try:
        if undecodable := tuple(_undecodable_variables(os.environ)):  # output that quotes them would fail
            return LoadedSettings(None, (*unknown, *undecodable))
        refuse_unreadable_file(config_file())
        return LoadedSettings(Settings(), unknown)
    except ValidationError as error:
        return LoadedSettings(usable_settings(error), (*unknown, *error_messages(error, Settings)))
    except InvalidSettings as error:
        return LoadedSettings(None, (*unknown, str(error)))
    finally:
        config_file_override.reset(token)


def _unknown_variables(environ: Mapping[str, str]) -> Iterator[str]:
    # pydantic-settings ignores unknown names, so a misspelt one would have no effect, silently.
    for variable, value in sorted(environ.items()):
        if variable.upper().startswith(ENV_PREFIX) and not _is_known(
            variable.upper().removeprefix(ENV_PREFIX), value
        ):
            yield f"{variable} is not a setting of truthgate{variable_hint(variable, Settings)}"


def _undecodable_variables(environ: Mapping[str, str]) -> Iterator[str]:
    # Settings are written to verdicts, client names and metrics, which must be encodable.
    for variable, value in sorted(environ.items()):
        if variable.upper().startswith((ENV_PREFIX, _OPENTELEMETRY)) and not is_encodable(_unescaped(value)):
            yield f"{variable} contains bytes that are not UTF-8, or half of a surrogate pair"


def _unescaped(value: str) -> str:
    """Return the characters of a value that is JSON, otherwise the value."""
    try:
        return json.dumps(json.loads(value), ensure_ascii=False)
    except (ValueError, RecursionError):
        return value


def _is_known(name: str, value: str) -> bool:
    section = name.partition(ENV_DELIMITER)[0]
    return bool(
        section.lower() in Settings.model_fields
        or _OTHER_VARIABLES.fullmatch(name)
        or _SERVICE_LINKS.fullmatch(name)
        or (name.endswith("PORT") and _SERVICE_URL.match(value))
    )
