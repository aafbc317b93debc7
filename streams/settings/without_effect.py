"""Settings that are set and change nothing, because of another one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from itertools import product

from scoring.policy import Policy
from scoring.values.types import MessageType
from streams.settings.base import Section
from streams.settings.telemetry import TelemetrySettings
from streams.settings.whole import Settings

#: Each with what the others need, and where that is missing the settings that then change nothing; ``.*`` is
#: the whole section. Names that are among the reasons are never among what is told.
_Rule = tuple[str, Callable[[Settings], bool], tuple[str, ...]]

_ASKING = ("ask", "ask_never", "ask_from", "ask_to", "send_confidence", "block_confidence", "declined")
_TRANSLATORS_WITH_ADDRESS = ("libretranslate", "deepl")

_RULES: tuple[_Rule, ...] = (
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
    ("scoring.kept_parses_mib is 0", lambda s: not s.scoring.kept_parses_mib, ("scoring.kept_parses",)),
    ("scoring.profile is paper", lambda s: s.scoring.profile == "paper", ("scoring.verifier.*",)),
    (
        "scoring.verifier.folder is not set",
        lambda s: s.scoring.verifier.folder is None,
        ("scoring.verifier.seconds",),
    ),
    (
        "scoring.timeout_seconds is shorter",
        lambda s: s.scoring.verifier.seconds > s.scoring.timeout_seconds,
        ("scoring.verifier.seconds",),
    ),
    ("retrieval.enabled is off", lambda s: not s.retrieval.enabled, ("retrieval.*",)),
    (
        "retrieval.embedder is not http",
        lambda s: s.retrieval.embedder != "http",
        tuple(
            f"retrieval.embeddings_{name}"
            for name in ("url", "model", "key", "dimensions", "timeout_seconds", "attempts", "batch")
        ),
    ),
    ("translation.mode is off", lambda s: s.translation.mode == "off", ("translation.*",)),
    (
        "translation.provider is not set",
        lambda s: s.translation.mode == "auto" and s.translation.provider is None,
        ("translation.mode", "translation.*"),
    ),
    (
        "translation.provider has no address of its own",
        lambda s: s.translation.provider not in (None, *_TRANSLATORS_WITH_ADDRESS),
        ("translation.base_url",),
    ),
    (
        "judges.endpoints is empty",
        lambda s: not s.judges.endpoints,
        ("judges.*", *(f"policy.{name}" for name in _ASKING)),
    ),
    ("judges.kept.mib is 0", lambda s: not s.judges.kept.mib, ("judges.kept.file",)),
    ("scoring.profile is not paper", lambda s: s.scoring.profile != "paper", ("company_terms.*",)),
    (
        "company_terms.file is set",
        lambda s: s.company_terms.file is not None,
        ("company_terms.least_documents",),
    ),
    ("rates.enabled is off", lambda s: not s.rates.enabled, ("rates.*", "alerts.*")),
    ("web.page is off", lambda s: not s.web.page, ("web.texts",)),
    (
        "telemetry.otlp_endpoint is not set",
        lambda s: not (s.telemetry.otlp_endpoint or _endpoint_of_the_sdk()),
        tuple(f"telemetry.{name}" for name in TelemetrySettings.model_fields if name != "models"),
    ),
    (
        "telemetry.otlp_endpoint is without TLS",
        lambda s: (s.telemetry.otlp_endpoint or "").startswith("http://"),
        ("telemetry.otlp_cafile", "telemetry.otlp_certfile", "telemetry.otlp_keyfile"),
    ),
    (
        "health.stall_timeout_seconds is shorter",
        lambda s: s.health.kafka_timeout_seconds > s.health.stall_timeout_seconds,
        ("health.kafka_timeout_seconds",),
    ),
)


def without_effect(settings: Settings) -> tuple[str, ...]:
    """Say which settings were set and change nothing, each in a sentence with the reason; each once."""
    given = set(_given(settings))
    told: dict[str, str] = {}
    for reason, holds, names in _RULES:
        if holds(settings):
            for name in sorted(given):
                if _is_among(name, names) and not reason.startswith(f"{name} "):
                    told.setdefault(name, f"{name} has no effect: {reason}")
    return (*told.values(), *_idle_overrides(settings.policy))


def _idle_overrides(policy: Policy) -> Iterator[str]:
    """Name the overrides without which every answer would be decided by the same values."""
    languages = {None, *(each.language for each in policy.overrides)}
    for number in range(len(policy.overrides)):
        others = policy.overrides[:number] + policy.overrides[number + 1 :]
        try:
            without = replace(policy, overrides=others)
        except ValueError:  # the others need it
            continue
        if all(
            policy.thresholds(message_type, language) == without.thresholds(message_type, language)
            for message_type, language in product(MessageType, languages)
        ):
            yield f"policy.overrides.{number} has no effect: without it the same applies"


def _is_among(name: str, names: tuple[str, ...]) -> bool:
    return any(name == each or (each.endswith(".*") and name.startswith(each[:-1])) for each in names)


def _given(settings: Settings) -> Iterator[str]:
    """Give the names of what was set, and not left at its default."""
    for section, value in settings:
        if isinstance(value, Section):
            yield from _set_in(section, value)
    shipped = Policy()
    for each in fields(Policy):
        if getattr(settings.policy, each.name) != getattr(shipped, each.name):
            yield f"policy.{each.name}"


def _set_in(path: str, section: Section) -> Iterator[str]:
    for name in section.model_fields_set:
        value = getattr(section, name)
        if isinstance(value, Section):
            yield from _set_in(f"{path}.{name}", value)
        elif value != type(section).model_fields[name].get_default(call_default_factory=False):
            yield f"{path}.{name}"


def _endpoint_of_the_sdk() -> bool:
    return any(
        value and name.startswith("OTEL_EXPORTER_OTLP") and name.endswith("ENDPOINT")
        for name, value in os.environ.items()
    )
