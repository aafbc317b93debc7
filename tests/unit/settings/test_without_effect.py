"""What is set and changes nothing is told, with what it depends on; what works is not."""

from collections.abc import Mapping
from typing import Any

import pytest

from streams.settings import Settings, unused_settings


def _told(sections: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return list(unused_settings(Settings.model_validate(sections)))


@pytest.fixture(autouse=True)
def _no_endpoint_of_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)


ENDPOINTS = {"small": {"base_url": "http://vllm/v1", "model": "m"}}


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        (
            {"kafka": {"sasl_username": "judge"}},
            ["kafka.sasl_username has no effect: kafka.security_protocol is without SASL"],
        ),
        (
            {"translation": {"mode": "auto"}},
            ["translation.mode has no effect: translation.provider is not set"],
        ),
        (
            {"translation": {"provider": "deepl"}},
            ["translation.provider has no effect: translation.mode is off"],
        ),
        (
            {"translation": {"mode": "auto", "provider": "google", "base_url": "http://t"}},
            ["translation.base_url has no effect: translation.provider has no address of its own"],
        ),
        (
            {"scoring": {"enabled": False, "processes": 3}, "retrieval": {"embedder": "e5"}},
            [
                "retrieval.embedder has no effect: scoring.enabled is off",
                "scoring.processes has no effect: scoring.enabled is off",
            ],
        ),
        (
            {"retrieval": {"enabled": False, "passages": 3}},
            ["retrieval.passages has no effect: retrieval.enabled is off"],
        ),
        (
            {"retrieval": {"embeddings_url": "http://e"}},
            ["retrieval.embeddings_url has no effect: retrieval.embedder is not http"],
        ),
        (
            {"judges": {"budget": {"tokens_per_day": 5}}, "policy": {"ask_from": 2}},
            [
                "judges.budget.tokens_per_day has no effect: judges.endpoints is empty",
                "policy.ask_from has no effect: judges.endpoints is empty",
            ],
        ),
        (
            {"judges": {"endpoints": ENDPOINTS, "kept": {"mib": 0, "file": "/k"}}},
            ["judges.kept.file has no effect: judges.kept.mib is 0"],
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
            {"telemetry": {"otlp_endpoint": "http://c:4317", "otlp_cafile": "/ca"}},
            ["telemetry.otlp_cafile has no effect: telemetry.otlp_endpoint is without TLS"],
        ),
        (
            {"health": {"stall_timeout_seconds": 30, "kafka_timeout_seconds": 60}},
            ["health.kafka_timeout_seconds has no effect: health.stall_timeout_seconds is shorter"],
        ),
        (
            {
                "company_terms": {"file": "/terms.json", "least_documents": 9},
                "scoring": {"profile": "paper"},
            },
            ["company_terms.least_documents has no effect: company_terms.file is set"],
        ),
        (
            {
                "policy": {
                    "overrides": [
                        {"language": "nl", "auto_send_at": 4.5},
                        {"language": "nl"},
                        {"message_type": "binary", "hold": False},
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
            {"company_terms": {"least_documents": 9}},
            ["company_terms.least_documents has no effect: scoring.profile is not paper"],
        ),
        (
            {"scoring": {"parse_cache_mib": 0, "parse_cache": "/p"}},
            ["scoring.parse_cache has no effect: scoring.parse_cache_mib is 0"],
        ),
        (
            {"scoring": {"verifier": {"seconds": 2}}},
            ["scoring.verifier.seconds has no effect: scoring.verifier.folder is not set"],
        ),
        (
            {"scoring": {"profile": "paper", "verifier": {"folder": "/v", "seconds": 2}}},
            [
                "scoring.verifier.folder has no effect: scoring.profile is paper",
                "scoring.verifier.seconds has no effect: scoring.profile is paper",
            ],
        ),
        (
            {"scoring": {"timeout_seconds": 1, "verifier": {"folder": "/v", "seconds": 2}}},
            ["scoring.verifier.seconds has no effect: scoring.timeout_seconds is shorter"],
        ),
    ],
)
def test_what_changes_nothing_is_told_with_what_it_depends_on(
    sections: Mapping[str, Mapping[str, Any]], told: list[str]
) -> None:
    assert _told(sections) == told


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"translation": {"mode": "auto", "provider": "libretranslate", "base_url": "http://t"}},
        {"judges": {"endpoints": ENDPOINTS, "time_limit_seconds": 5}, "policy": {"ask_from": 2}},
        {"telemetry": {"otlp_endpoint": "https://c:4317", "otlp_cafile": "/ca", "sampling_ratio": 0.5}},
        {"kafka": {"security_protocol": "SASL_PLAINTEXT", "sasl_username": "u", "sasl_password": "p"}},
        {"retrieval": {"passages": 3}, "web": {"texts": True}, "rates": {"idle_after_seconds": 5}},
        {"scoring": {"enabled": False}},
        {"scoring": {"verifier": {"folder": "/v", "seconds": 2}}},
        # As it is anyway: templates of deployments write defaults out.
        {"telemetry": {"sampling_ratio": 1}, "translation": {"mode": "off", "concurrency": 4}},
    ],
)
def test_what_works_or_is_the_default_is_not_told(sections: Mapping[str, Mapping[str, Any]]) -> None:
    assert _told(sections) == []


def test_an_endpoint_in_a_variable_of_the_sdk_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317")
    assert _told({"telemetry": {"sampling_ratio": 0.5}}) == []
