"""The one typed configuration: environment (``TRUTHGATE_...``), or a TOML file, or defaults.

Each section stands in the file of its subject: ``web.port`` is ``port`` of ``WebSettings``. ``whole.py``
puts the sections together, and ``loading.py`` reads them and says what is wrong.
"""

from streams.settings.base import PREFIX, WrongSettings, variable_name
from streams.settings.documents import CompanyTermsSettings, DocumentSettings, RetrievalSettings
from streams.settings.effective import without_effect
from streams.settings.judges import EndpointSettings, JudgeSettings
from streams.settings.kafka import EncodingSettings, KafkaSettings, OAuthSettings, TopicSettings
from streams.settings.loading import load_settings
from streams.settings.rates import AlertSettings, AlertThreshold, RatesSettings, RateWindowSettings
from streams.settings.scoring import MOST_PROCESSES, ScoringSettings, TranslationSettings
from streams.settings.telemetry import LogSettings, ObjectiveSettings, TelemetrySettings
from streams.settings.trust import show_certificate, trusting
from streams.settings.whole import Settings
from streams.settings.worker import FlowSettings, HealthSettings, VerdictSettings, WebSettings

__all__ = [
    "MOST_PROCESSES",
    "PREFIX",
    "AlertSettings",
    "AlertThreshold",
    "CompanyTermsSettings",
    "DocumentSettings",
    "EncodingSettings",
    "EndpointSettings",
    "FlowSettings",
    "HealthSettings",
    "JudgeSettings",
    "KafkaSettings",
    "LogSettings",
    "OAuthSettings",
    "ObjectiveSettings",
    "RateWindowSettings",
    "RatesSettings",
    "RetrievalSettings",
    "ScoringSettings",
    "Settings",
    "TelemetrySettings",
    "TopicSettings",
    "TranslationSettings",
    "VerdictSettings",
    "WebSettings",
    "WrongSettings",
    "load_settings",
    "show_certificate",
    "trusting",
    "variable_name",
    "without_effect",
]
