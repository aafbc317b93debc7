"""Effective settings with their origin, unused settings, and policies to compare with."""

import dataclasses
import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr, ValidationError
from pydantic_core import to_jsonable_python
from pydantic_settings import EnvSettingsSource, TomlConfigSettingsSource

from scoring.policy import Policy
from scoring.values.exchange import MessageType
from streams.settings.root_settings import Settings, config_file, refuse_unreadable_file
from streams.settings.setting_catalog import section_type
from streams.settings.settings_base import (
    REDACTED,
    InvalidSettings,
    SettingsSection,
    redact_credentials,
    variable_name,
)
from streams.settings.settings_errors import error_messages
from streams.settings.settings_loader import load_settings
from streams.settings.telemetry_settings import TelemetrySettings

DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """An effective setting: its ``value`` as JSON, without secrets, and the variable or file that sets it."""

    name: str
    value: str
    origin: str


def effective_settings(config: Path | None = None) -> tuple[EffectiveSetting, ...]:
    """Return all settings as a worker reads them; raises InvalidSettings."""
    settings = load_settings(config)
    from_environment: Mapping[str, Any] = EnvSettingsSource(Settings)()
    path = config or config_file()
    from_file: Mapping[str, Any] = TomlConfigSettingsSource(Settings, path)() if path else {}
    return tuple(
        EffectiveSetting(
            ".".join(name), redacted_json(value), _origin(name, from_environment, from_file, path)
        )
        for name, value in _leaves((), settings)
    )


def redacted_json(value: Any) -> str:
    """Return a value as JSON with everything redacted that is or may contain a secret."""
    return json.dumps(_without_secrets(value), ensure_ascii=False)


def _leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Settings | SettingsSection):
        for name, each in value:
            annotation = type(value).model_fields[name].annotation
            if each is None and (part := section_type(annotation)):  # the whole section is unset
                yield from (((*path, name, inner), None) for inner in part.model_fields)
            else:
                yield from _leaves((*path, name), each)
    elif isinstance(value, dict) and any(isinstance(each, SettingsSection) for each in value.values()):
        for name, each in value.items():
            yield from _leaves((*path, name), each)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield (*path, field.name), getattr(value, field.name)
    else:
        yield path, value


def _without_secrets(value: Any) -> Any:
    match value:
        case SecretStr():
            return REDACTED
        case str():
            return redact_credentials(value)
        case dict():
            return {str(key): _without_secrets(each) for key, each in value.items()}
        case tuple() | list():
            return [_without_secrets(each) for each in value]
        case SettingsSection():
            return {name: _without_secrets(each) for name, each in value if each is not None}
        case _:
            return to_jsonable_python(value, exclude_none=True)


def _origin(
    name: tuple[str, ...], environment: Mapping[str, Any], file: Mapping[str, Any], path: Path | None
) -> str:
    known = set(map(str.upper, os.environ))
    for given in (name, (*name[:-1], f"{name[-1]}_file")):  # a secret may be in a file
        if _has(environment, given):
            # One variable may contain a whole table as JSON.
            variables = (variable_name(*given[:length]) for length in range(len(given), 0, -1))
            return next(variable for variable in variables if variable in known)
    in_file = _has(file, name) or _has(file, (*name[:-1], f"{name[-1]}_file"))
    return str(path) if in_file else DEFAULT


def _has(values: Any, name: tuple[str, ...]) -> bool:
    for part in name:
        if not isinstance(values, dict) or part not in values:
            return False
        values = values[part]
    return True


_POLICY = "policy"


class _PolicyOnly(SettingsSection):
    policy: Policy


def merge_policy(base: Policy, file: Path | None, values: Mapping[str, Any]) -> Policy:
    """Return a policy with other values: those of section ``[policy]`` of a file, then ``values``.

    Values set in neither stay; ``overrides`` of a file replace all others.

    Raises:
        InvalidSettings: the file cannot be read, contains something else, or the policy is invalid.
    """
    current = {each.name: getattr(base, each.name) for each in dataclasses.fields(Policy)}
    from_file = _read_policy(file) if file else {}
    try:
        return _PolicyOnly(policy={**current, **from_file, **values}).policy
    except ValidationError as error:
        raise InvalidSettings(
            *(f"{file}: {each}" if file else each for each in error_messages(error, Settings))
        ) from None


def _read_policy(path: Path) -> Mapping[str, Any]:
    refuse_unreadable_file(path)
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    policy = table.get(_POLICY)
    if set(table) != {_POLICY} or not isinstance(policy, dict):
        raise InvalidSettings(f"{path} should contain the section [policy] of the settings, and nothing else")
    return policy


#: A reason, its condition, and the settings that have no effect if it holds; ``.*`` is a whole section. A
#: setting that is itself the reason is not reported.
_UnusedRule = tuple[str, Callable[[Settings], bool], tuple[str, ...]]

_JUDGE_POLICY = ("ask", "ask_never", "send_confidence", "block_confidence", "declined")
_TRANSLATORS_WITH_ADDRESS = ("libretranslate", "deepl")

_RULES: tuple[_UnusedRule, ...] = (
    (
        "kafka.security_protocol is without SASL",
        lambda s: not s.kafka.security_protocol.startswith("SASL"),
        ("kafka.sasl_mechanism", "kafka.sasl_username", "kafka.sasl_password"),
    ),
    (
        "scoring.enabled is off",
        lambda s: not s.scoring.enabled,
        ("scoring.*", "judges.*", "translation.*", "retrieval.*", "company_terms.*"),
    ),
    ("scoring.profile is paper", lambda s: s.scoring.profile == "paper", ("scoring.verifier.*",)),
    (
        "scoring.verifier.folder is not set",
        lambda s: s.scoring.verifier.folder is None,
        ("scoring.verifier.timeout_seconds",),
    ),
    (
        "scoring.timeout_seconds is shorter",
        lambda s: s.scoring.verifier.timeout_seconds > s.scoring.timeout_seconds,
        ("scoring.verifier.timeout_seconds",),
    ),
    ("retrieval.embedder is none", lambda s: not s.retrieval.is_enabled, ("retrieval.*",)),
    (
        "retrieval.embedder is not http",
        lambda s: s.retrieval.embedder != "http",
        tuple(f"retrieval.embeddings_{name}" for name in ("url", "model", "key", "timeout_seconds")),
    ),
    ("translation.provider is not set", lambda s: s.translation.provider is None, ("translation.*",)),
    (
        "translation.provider does not take an address",
        lambda s: s.translation.provider not in (None, *_TRANSLATORS_WITH_ADDRESS),
        ("translation.base_url",),
    ),
    (
        "judges.endpoints is empty",
        lambda s: not s.judges.endpoints,
        ("judges.*", *(f"policy.{name}" for name in _JUDGE_POLICY)),
    ),
    ("scoring.profile is not paper", lambda s: s.scoring.profile != "paper", ("company_terms.*",)),
    ("rates.enabled is off", lambda s: not s.rates.enabled, ("rates.*", "alerts.*")),
    ("web.page is off", lambda s: not s.web.page, ("web.texts",)),
    (
        "telemetry.otlp_endpoint is not set",
        lambda s: not (s.telemetry.otlp_endpoint or _has_sdk_endpoint()),
        tuple(
            f"telemetry.{name}"
            for name in TelemetrySettings.model_fields
            if name not in ("models", "languages")
        ),
    ),
    (
        "health.stall_timeout_seconds is shorter",
        lambda s: s.health.kafka_timeout_seconds > s.health.stall_timeout_seconds,
        ("health.kafka_timeout_seconds",),
    ),
)


def unused_settings(settings: Settings) -> tuple[str, ...]:
    """Return a sentence with the reason for each setting that was set and has no effect."""
    explicit = sorted(set(_explicit_names(settings)))
    found: dict[str, str] = {}
    for reason, applies, names in _RULES:
        if applies(settings):
            for name in explicit:
                if _is_among(name, names) and not reason.startswith(f"{name} "):
                    found.setdefault(name, f"{name} has no effect: {reason}")
    return (*found.values(), *_unused_overrides(settings.policy))


def _unused_overrides(policy: Policy) -> Iterator[str]:
    """Yield the overrides without which every answer would be decided by the same values."""
    languages = {None, *(each.language for each in policy.overrides)}
    for number in range(len(policy.overrides)):
        others = policy.overrides[:number] + policy.overrides[number + 1 :]
        try:
            without = replace(policy, overrides=others)
        except ValueError:  # other overrides depend on it
            continue
        if all(
            policy.thresholds(message_type, language) == without.thresholds(message_type, language)
            for message_type, language in product(MessageType, languages)
        ):
            yield f"policy.overrides.{number} has no effect: without it the same applies"


def _is_among(name: str, names: tuple[str, ...]) -> bool:
    return any(name == each or (each.endswith(".*") and name.startswith(each[:-1])) for each in names)


def _explicit_names(settings: Settings) -> Iterator[str]:
    """Yield the names of settings that are set, not left at their default."""
    for section, value in settings:
        if isinstance(value, SettingsSection):
            yield from _set_in(section, value)
    shipped = Policy()
    for each in fields(Policy):
        if getattr(settings.policy, each.name) != getattr(shipped, each.name):
            yield f"policy.{each.name}"


def _set_in(path: str, section: SettingsSection) -> Iterator[str]:
    for name in section.model_fields_set:
        value = getattr(section, name)
        if isinstance(value, SettingsSection):
            yield from _set_in(f"{path}.{name}", value)
        elif value != type(section).model_fields[name].get_default(call_default_factory=False):
            yield f"{path}.{name}"


def _has_sdk_endpoint() -> bool:
    return any(
        value and name.startswith("OTEL_EXPORTER_OTLP") and name.endswith("ENDPOINT")
        for name, value in os.environ.items()
    )
