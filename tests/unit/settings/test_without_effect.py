"""Settings without effect are reported with the reason; effective ones are not."""

from collections.abc import Mapping
from typing import Any

import pytest

from streams.settings import Settings, unused_settings


def _unused(sections: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return list(unused_settings(Settings.model_validate(sections)))


@pytest.fixture(autouse=True)
def _no_endpoint_of_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)


ENDPOINTS = {"small": {"base_url": "http://vllm/v1", "model": "m"}}


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        (
            {"kafka": {"sasl_username": "judge"}},
            ["kafka.sasl_username has no effect: kafka.security_protocol is without SASL"],
        ),
        (
            {"translation": {"base_url": "http://t"}},
            ["translation.base_url has no effect: translation.provider is not set"],
        ),
        (
            {"translation": {"provider": "google", "base_url": "http://t"}},
            ["translation.base_url has no effect: translation.provider does not take an address"],
        ),
        (
            {"scoring": {"enabled": False, "processes": 3}, "retrieval": {"embedder": "e5"}},
            [
                "retrieval.embedder has no effect: scoring.enabled is off",
                "scoring.processes has no effect: scoring.enabled is off",
            ],
        ),
        (
            {"retrieval": {"embedder": "none", "floor": 0.3}},
            ["retrieval.floor has no effect: retrieval.embedder is none"],
        ),
        (
            {"retrieval": {"embeddings_url": "http://e"}},
            ["retrieval.embeddings_url has no effect: retrieval.embedder is not http"],
        ),
        (
            {"judges": {"budget": {"tokens_per_day": 5}}, "policy": {"send_confidence": 0.8}},
            [
                "judges.budget.tokens_per_day has no effect: judges.endpoints is empty",
                "policy.send_confidence has no effect: judges.endpoints is empty",
            ],
        ),
        (
            {"rates": {"enabled": False, "idle_after_seconds": 5}},
            ["rates.idle_after_seconds has no effect: rates.enabled is off"],
        ),
        ({"web": {"page": False, "texts": True}}, ["web.texts has no effect: web.page is off"]),
        (
            {"telemetry": {"sampling_ratio": 0.5}},
            ["telemetry.sampling_ratio has no effect: telemetry.otlp_endpoint is not set"],
        ),
        (
            {"health": {"stall_timeout_seconds": 30, "kafka_timeout_seconds": 60}},
            ["health.kafka_timeout_seconds has no effect: health.stall_timeout_seconds is shorter"],
        ),
        (
            {
                "policy": {
                    "overrides": [
                        {"language": "nl", "auto_send_at": 4.5},
                        {"language": "nl"},
                        {"message_type": "binary", "pause": False},
                        {"message_type": "action", "language": "nl", "block_below": 2},
                    ]
                }
            },
            [
                "policy.overrides.1 has no effect: without it the same applies",
                "policy.overrides.2 has no effect: without it the same applies",
            ],
        ),
        (
            {"company_terms": {"file": "/terms.json"}},
            ["company_terms.file has no effect: scoring.profile is not paper"],
        ),
        (
            {"scoring": {"verifier": {"timeout_seconds": 2}}},
            ["scoring.verifier.timeout_seconds has no effect: scoring.verifier.folder is not set"],
        ),
        (
            {"scoring": {"profile": "paper", "verifier": {"folder": "/v", "timeout_seconds": 2}}},
            [
                "scoring.verifier.folder has no effect: scoring.profile is paper",
                "scoring.verifier.timeout_seconds has no effect: scoring.profile is paper",
            ],
        ),
        (
            {"scoring": {"timeout_seconds": 1, "verifier": {"folder": "/v", "timeout_seconds": 2}}},
            ["scoring.verifier.timeout_seconds has no effect: scoring.timeout_seconds is shorter"],
        ),
    ],
)
def test_what_changes_nothing_is_reported_with_what_it_depends_on(sections, message):
    assert _unused(sections) == message


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
