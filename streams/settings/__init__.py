"""The typed configuration: environment (``TRUTHGATE_...``), then a TOML file, then defaults.

Each section is in the module of its subject: ``web.port`` is ``port`` of ``WebSettings``. ``root_settings``
combines the sections, and ``settings_loader`` reads them and reports errors.
"""

from streams.settings.desk_settings import DeskOrder, DeskRole, DeskSettings, OidcSettings
from streams.settings.document_settings import CompanyTermsSettings, DocumentSettings, RetrievalSettings
from streams.settings.effective_settings import unused_settings
from streams.settings.judge_settings import EndpointSettings, JudgeSettings
from streams.settings.kafka_settings import EncodingSettings, KafkaSettings, OAuthSettings, TopicSettings
from streams.settings.rate_settings import AlertSettings, AlertThreshold, RatesSettings, RateWindowSettings
from streams.settings.root_settings import Settings
from streams.settings.scoring_settings import MAX_PROCESSES, ScoringSettings, TranslationSettings
from streams.settings.settings_base import ENV_PREFIX, InvalidSettings, variable_name
from streams.settings.settings_loader import load_settings
from streams.settings.telemetry_settings import LogSettings, ObjectiveSettings, TelemetrySettings
from streams.settings.tls_contexts import certificate_end, client_ssl_context, load_client_certificate
from streams.settings.worker_settings import (
    FlowSettings,
    HealthSettings,
    ShadowSettings,
    VerdictSettings,
    WebSettings,
)

__all__ = [
    "ENV_PREFIX",
    "MAX_PROCESSES",
    "AlertSettings",
    "AlertThreshold",
    "CompanyTermsSettings",
    "DeskOrder",
    "DeskRole",
    "DeskSettings",
    "DocumentSettings",
    "EncodingSettings",
    "EndpointSettings",
    "FlowSettings",
    "HealthSettings",
    "InvalidSettings",
    "JudgeSettings",
    "KafkaSettings",
    "LogSettings",
    "OAuthSettings",
    "ObjectiveSettings",
    "OidcSettings",
    "RateWindowSettings",
    "RatesSettings",
    "RetrievalSettings",
    "ScoringSettings",
    "Settings",
    "ShadowSettings",
    "TelemetrySettings",
    "TopicSettings",
    "TranslationSettings",
    "VerdictSettings",
    "WebSettings",
    "certificate_end",
    "client_ssl_context",
    "load_client_certificate",
    "load_settings",
    "unused_settings",
    "variable_name",
]
