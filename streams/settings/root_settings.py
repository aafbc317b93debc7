"""All sections combined in `Settings`, and the sources of its values."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import from_json
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from scoring.policy import Policy
from streams.settings.desk_settings import DeskSettings
from streams.settings.document_settings import CompanyTermsSettings, DocumentSettings, RetrievalSettings
from streams.settings.judge_settings import JudgeSettings
from streams.settings.kafka_settings import EncodingSettings, KafkaSettings, TopicSettings
from streams.settings.rate_settings import AlertSettings, RatesSettings
from streams.settings.scoring_settings import ScoringSettings, TranslationSettings
from streams.settings.settings_base import ENV_DELIMITER, ENV_PREFIX, InvalidSettings, one_line, variable_name
from streams.settings.telemetry_settings import LogSettings, ObjectiveSettings, TelemetrySettings
from streams.settings.worker_settings import FlowSettings, HealthSettings, ShadowSettings, WebSettings

CONFIG_FILE_VARIABLE = "TRUTHGATE_CONFIG"

config_file_override: ContextVar[Path | None] = ContextVar("config_file_override", default=None)
"""The file passed to ``load_settings``, while it reads."""


def config_file() -> Path | None:
    """Return the configuration file that was passed, or that TRUTHGATE_CONFIG names, or None."""
    named = os.environ.get(CONFIG_FILE_VARIABLE)
    return config_file_override.get() or (Path(named) if named else None)


def refuse_unreadable_file(path: Path | None) -> None:
    """Raise InvalidSettings if a file cannot be read or is not TOML; None is no file."""
    if path is None:
        return
    try:
        tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidSettings(f"the configuration file {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InvalidSettings(f"the configuration file {path} is not TOML: {one_line(str(error))}") from None


_POLICY_LISTS = ("overrides", "ask", "ask_never")


class Settings(BaseSettings):
    """All settings. ``TRUTHGATE_KAFKA__BOOTSTRAP_SERVERS`` sets ``kafka.bootstrap_servers``."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_nested_delimiter=ENV_DELIMITER, extra="forbid", frozen=True
    )

    kafka: KafkaSettings = KafkaSettings()
    topics: TopicSettings = TopicSettings()
    encoding: EncodingSettings = EncodingSettings()
    documents: DocumentSettings = DocumentSettings()
    company_terms: CompanyTermsSettings = CompanyTermsSettings()
    scoring: ScoringSettings = ScoringSettings()
    translation: TranslationSettings = TranslationSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    judges: JudgeSettings = JudgeSettings()
    policy: Policy = Policy()
    flow: FlowSettings = FlowSettings()
    web: WebSettings = WebSettings()
    desk: DeskSettings = DeskSettings()
    shadow: ShadowSettings = ShadowSettings()
    health: HealthSettings = HealthSettings()
    objectives: ObjectiveSettings = ObjectiveSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    rates: RatesSettings = RatesSettings()
    alerts: AlertSettings = AlertSettings()
    log: LogSettings = LogSettings()

    @field_validator("alerts")
    @classmethod
    def _thresholds_have_windows(cls, alerts: AlertSettings, others: ValidationInfo) -> AlertSettings:
        if "rates" in others.data:  # missing if it is itself invalid
            sizes = [window.size_seconds for window in others.data["rates"].windows]
            alerts = alerts.for_windows(sizes)
            for threshold in alerts.thresholds:
                if threshold.window_seconds not in sizes:
                    window = f"window {threshold.window_seconds} of threshold {threshold.name}"
                    known = ", ".join(map(str, sizes))
                    raise ValueError(f"{window} is not a size in rates.windows ({known})")
        return alerts

    @field_validator("policy", mode="before")
    @classmethod
    def _lists_may_be_json(cls, value: Any) -> Any:
        # A variable is text; pydantic-settings parses JSON for models, but not for dataclasses.
        return {k: _from_json(k, v) for k, v in value.items()} if isinstance(value, dict) else value

    def with_values(self, section: str, values: Mapping[str, Any]) -> Settings:
        """Return a copy with some values of a section replaced, without validation."""
        changed: BaseModel = getattr(self, section).model_copy(update=values)
        return self.model_copy(update={section: changed})

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read arguments first, then the environment, then the configuration file."""
        return (init_settings, *settings_sources(settings_cls))


class _Variables(EnvSettingsSource):
    """The environment; invalid JSON becomes a validation error like others."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        """Decode JSON; an invalid value stays text."""
        try:
            return super().decode_complex_value(field_name, field, value)
        except (ValueError, RecursionError):
            return value


def settings_sources(settings: type[BaseSettings]) -> tuple[PydanticBaseSettingsSource, ...]:
    """Return the sources of the settings: the environment, then the configuration file, if any."""
    path = config_file()
    return (_Variables(settings), *([TomlConfigSettingsSource(settings, path)] if path else []))


def _from_json(name: str, value: Any) -> Any:
    if name not in _POLICY_LISTS or not isinstance(value, str):
        return value
    try:
        return from_json(value)
    except ValueError:
        raise ValueError(f"{variable_name('policy', name)} should be a JSON list") from None
