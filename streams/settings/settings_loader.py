"""Reads the settings. What is wrong is named in one line."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
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

Loc = tuple[int | str, ...]


class _ArgumentSettings(Settings):
    """Settings of arguments alone."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - a name of pydantic's
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take arguments alone."""
        return (init_settings,)


def usable_settings(error: ValidationError) -> Settings | None:
    """Give what was read without what ``error`` complains of, or None where the rest is wrong too."""
    values: dict[str, Any] = {}
    for source in reversed(settings_sources(Settings)):
        values = _over(values, source())
    places = _places(error)
    for some in (places, [place[:1] for place in places]):
        for place in some:
            _drop(values, place)
        try:
            return Settings.model_construct(**dict(_ArgumentSettings(**values)))
        except ValidationError as further:
            error = further
    return None


def _places(error: ValidationError) -> list[Loc]:
    return [each["loc"] for each in error.errors(include_url=False, include_context=False)]


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for name, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(name), dict)
        merged[name] = _over(merged[name], value) if both else value
    return merged


def _drop(values: dict[str, Any], loc: Iterable[int | str]) -> None:
    """Take away what is at a place, or the least that is there around it, such as a list with its entry."""
    first, *others = map(str, loc)
    holder, name = values, first
    for part in others:
        inner = holder.get(name)
        if not isinstance(inner, dict) or part not in inner:
            break
        holder, name = inner, part
    holder.pop(name, None)


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


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """What reading the settings gave.

    Attributes:
        settings: with what is wrong at its default; None where nothing can be said of the rest.
        mistakes: what is wrong, each in one line that names the variable or the setting, and no secret.
    """

    settings: Settings | None
    errors: tuple[str, ...] = ()


def load_settings(config: Path | None = None) -> Settings:
    """Read the settings from the environment and ``config``, or the file that TRUTHGATE_CONFIG names.

    Raises:
        InvalidSettings: in a line for each mistake, see ``LoadedSettings``.
    """
    reading = read_settings(config)
    if reading.errors or reading.settings is None:
        raise InvalidSettings(*reading.errors)
    return reading.settings


def read_settings(config: Path | None = None) -> LoadedSettings:
    """Read the settings as far as they can be used, and say all that is wrong with them."""
    token = config_file_override.set(config)
    wrong = tuple(_unknown_variables(os.environ))
    try:
        if no_text := tuple(_what_is_no_text(os.environ)):  # nothing that quotes them could be written
            return LoadedSettings(None, (*wrong, *no_text))
        refuse_unreadable_file(config_file())
        return LoadedSettings(Settings(), wrong)
    except ValidationError as error:
        return LoadedSettings(usable_settings(error), (*wrong, *error_messages(error, Settings)))
    except InvalidSettings as error:
        return LoadedSettings(None, (*wrong, str(error)))
    finally:
        config_file_override.reset(token)


def _unknown_variables(environ: Mapping[str, str]) -> Iterator[str]:
    # pydantic-settings looks only for the names it knows, so a misspelt one would change nothing, unseen.
    for variable, value in sorted(environ.items()):
        if variable.upper().startswith(ENV_PREFIX) and not _is_known(
            variable.upper().removeprefix(ENV_PREFIX), value
        ):
            yield f"{variable} is not a setting of truthgate{variable_hint(variable, Settings)}"


def _what_is_no_text(environ: Mapping[str, str]) -> Iterator[str]:
    # What is set goes into verdicts, names of clients and metrics: none of them could be written.
    for variable, value in sorted(environ.items()):
        if variable.upper().startswith((ENV_PREFIX, _OPENTELEMETRY)) and not is_encodable(_unescaped(value)):
            yield f"{variable} holds bytes that are no UTF-8, or half of a character"


def _unescaped(value: str) -> str:
    """Give the characters that a value has where it is read as JSON, else the value."""
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
