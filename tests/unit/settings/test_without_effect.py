"""Settings without effect are reported with the reason; effective ones are not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from streams.settings import Settings, unused_settings


def _unused(sections: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return list(unused_settings(Settings.model_validate(sections)))


@pytest.fixture(autouse=True)
def _no_endpoint_of_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)


UNUSED = Path(__file__).with_name("unused_settings.yaml")
ENDPOINTS = {"small": {"base_url": "http://vllm/v1", "model": "m"}}


@pytest.mark.parametrize("case", yaml.safe_load(UNUSED.read_text("utf-8")))
def test_what_changes_nothing_is_reported_with_what_it_depends_on(case):
    assert _unused(case["settings"]) == case["unused"]


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"translation": {"provider": "libretranslate", "base_url": "http://t"}},
        {"judges": {"endpoints": ENDPOINTS, "timeout_seconds": 5}, "policy": {"send_confidence": 0.8}},
        {"telemetry": {"otlp_endpoint": "https://c:4317", "sampling_ratio": 0.5}},
        {"kafka": {"security_protocol": "SASL_PLAINTEXT", "sasl_username": "u", "sasl_password": "p"}},
        {"retrieval": {"floor": 0.3}, "web": {"texts": True}, "rates": {"idle_after_seconds": 5}},
        {"scoring": {"enabled": False}},
        {"scoring": {"verifier": {"folder": "/v", "timeout_seconds": 2}}},
        # As it is anyway: templates of deployments write defaults out.
        {"telemetry": {"sampling_ratio": 1}, "translation": {"timeout_seconds": 10}},
    ],
)
def test_what_works_or_is_the_default_is_not_reported(sections):
    assert _unused(sections) == []


def test_an_endpoint_in_a_variable_of_the_sdk_counts(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317")
    assert _unused({"telemetry": {"sampling_ratio": 0.5}}) == []
