"""Settings in the chart's values: they reach the workers as they are, and what follows from them is right."""

import base64
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from streams.delivery.publisher import max_settling_seconds
from streams.kafka.topics.topic_specification import topic_specifications
from streams.settings import InvalidSettings, Settings, load_settings
from tests.support.charts import (
    FEATURES,
    MINIMUM,
    Resource,
    config_file,
    feature,
    only,
    refusal,
    resources,
    with_settings,
)

#: As long as a token has to be.
SECRET = "a-secret-of-tests"

Load = Callable[..., Settings]


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Give what loads the settings of some resources as a worker does; each secret is ``content``."""
    for name in [name for name in os.environ if name.startswith("TRUTHGATE_")]:
        monkeypatch.delenv(name)

    def load(found: list[Resource], content: str = SECRET) -> Settings:
        pod = only(found, "StatefulSet")["spec"]["template"]["spec"]
        mounted = set(_mounted_secrets(pod))
        (secret := tmp_path / "secret").write_text(content, "utf-8")
        (config := tmp_path / "truthgate.toml").write_text(config_file(found), "utf-8")
        for variable in pod["containers"][0]["env"]:
            name, value = variable["name"], variable.get("value")
            if name.endswith("_FILE"):
                mounted.remove(value.removeprefix("/run/secrets/truthgate/"))
                monkeypatch.setenv(name, str(secret))
            else:
                monkeypatch.setenv(name, str(config) if name == "TRUTHGATE_CONFIG" else SECRET)
        assert not mounted
        return load_settings()

    return load


def _mounted_secrets(pod: Mapping[str, Any]) -> Iterator[str]:
    """Give the settings of which a pod has files."""
    for volume in pod.get("volumes", ()):
        for source in volume["projected"]["sources"] if volume["name"] == "secrets" else ():
            yield from (item["path"] for item in source["secret"]["items"])


@pytest.mark.parametrize("name", FEATURES)
def test_workers_load_the_settings_of_each_feature(name: str, loaded: Load) -> None:
    settings = loaded(resources(feature(name)))
    assert settings.kafka.group_instance_id == SECRET


@pytest.mark.parametrize(
    ("section", "values"),
    [
        ("flow", {"answer_timeout_seconds": 12.5, "max_in_flight": 10_000}),
        ("encoding", {"max_value_bytes": 100_000_000, "json_input": True}),
        ("scoring", {"processes": 3, "pipelines": {"nl": 'a "quoted" \\ name'}}),
        ("telemetry", {"otlp_endpoint": "http://collector:4317", "sampling_ratio": 0.0000125}),
        ("rates", {"windows": [{"size_seconds": 60}, {"size_seconds": 3600, "hop_seconds": 60}]}),
        ("alerts", {"thresholds": [{"name": "nl", "language": "nl", "window_seconds": 60, "rate": 0.1}]}),
        ("judges", {"endpoints": {"my-own": {"base_url": "http://vllm:8000/v1", "model": "é <b> & 'c'"}}}),
        ("judges", {"budget": {"tokens_per_day": 1_000_000_000_000}}),
        ("policy", {"ask": ["middle_score"], "overrides": [{"language": "nl", "pause": True}]}),
    ],
)
def test_a_setting_of_any_kind_reaches_the_worker_as_it_is(
    section: str, values: Mapping[str, Any], loaded: Load
) -> None:
    found = loaded(resources(with_settings(**{section: values})))
    assert getattr(found, section) == getattr(Settings(**{section: values}), section)


def test_what_is_null_is_as_if_it_were_not_set(loaded: Load) -> None:
    assert loaded(resources(with_settings(telemetry={"otlp_endpoint": None}))).telemetry.otlp_endpoint is None


def test_topics_and_group_are_named_for_the_release_and_its_namespace(loaded: Load) -> None:
    kafka = loaded(resources(MINIMUM, release="green")).kafka
    assert (kafka.topic_prefix, kafka.consumer_group) == ("chat.green.", "chat.green")


def test_topics_may_have_no_prefix_and_a_group_a_name_of_its_own(loaded: Load) -> None:
    kafka = loaded(resources(with_settings(kafka={"topic_prefix": "", "consumer_group": "g"}))).kafka
    assert (kafka.topic_prefix, kafka.consumer_group) == ("", "g")


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"flow": {"answer_timeout_seconds": 7.5}},
        {"kafka": {"delivery_timeout_seconds": 200}, "flow": {"answer_timeout_seconds": 300}},
    ],
    ids=["as shipped", "short", "long"],
)
def test_a_worker_may_end_for_as_long_as_its_drain_budget_and_no_shorter(
    sections: Mapping[str, Mapping[str, Any]],
) -> None:
    budget = max_settling_seconds(Settings(**sections))
    given = with_settings(**sections)

    def grace(**more: Any) -> int:
        pod = only(resources({**given, **more}), "StatefulSet")["spec"]["template"]["spec"]
        return pod["terminationGracePeriodSeconds"]

    assert budget < grace() <= budget + 20
    assert grace(preStopSleepSeconds=30) == grace(preStopSleepSeconds=0) + 30
    assert grace(terminationGracePeriodSeconds=2000) == 2000
    told = refusal({**given, "preStopSleepSeconds": 0, "terminationGracePeriodSeconds": int(budget) - 1})
    assert "terminationGracePeriodSeconds should be at least" in told


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"topics": {"partitions": 24, "replication_factor": 3, "retention_days": 1.5}},
        {"topics": {"replication_factor": 1}, "rates": {"enabled": False}},
        {"encoding": {"max_value_bytes": 5_000_001}},
    ],
    ids=["as shipped", "other topics", "without rates", "larger"],
)
def test_strimzis_topics_are_those_that_truthgate_would_make(
    sections: Mapping[str, Mapping[str, Any]],
) -> None:
    strimzi = {"topics": {"create": "strimzi", "strimzi": {"cluster": "my"}}}
    found = resources({**with_settings(**sections), **strimzi})
    prefixed = Settings(**{**sections, "kafka": {"topic_prefix": "chat.blue."}})
    made = {
        each["spec"]["topicName"]: (
            each["spec"]["partitions"],
            each["spec"].get("replicas", -1),
            each["spec"]["config"],
        )
        for each in found
        if each["kind"] == "KafkaTopic"
    }
    assert made == {
        spec.name: (spec.partitions, spec.replication, dict(spec.config))
        for spec in topic_specifications(prefixed)
    }


def _memory(values: Mapping[str, Any]) -> int:
    pod = only(resources(values), "StatefulSet")["spec"]["template"]["spec"]
    return int(pod["containers"][0]["resources"]["limits"]["memory"].removesuffix("Mi"))


def test_memory_grows_with_processes_and_search_and_is_asked_for_as_it_is_limited() -> None:
    """Of its own a process had 416 MB, beside 300 that all share."""
    one, two = (_memory(with_settings(scoring={"processes": n})) for n in (1, 2))
    assert two - one >= 416
    without = _memory(with_settings(scoring={"processes": 1}, retrieval={"embedder": "none"}))
    assert one - without >= 210 + 208, "to search, and to embed"
    assert without >= 125 + 300 + 416
    assert _memory({**MINIMUM, "tmp": {"medium": "Memory"}}) - _memory(MINIMUM) >= 128
    pod = only(resources(MINIMUM), "StatefulSet")["spec"]["template"]["spec"]
    resources_of_it = pod["containers"][0]["resources"]
    assert resources_of_it["requests"]["memory"] == resources_of_it["limits"]["memory"]


def test_memory_has_room_for_the_verdicts_that_the_rates_remember() -> None:
    """One took 145 bytes of memory, and 7,500 s of them were remembered at most, as shipped."""
    few, many = (_memory({**MINIMUM, "answersPerSecond": rate}) for rate in (0, 1_000))
    assert many - few >= 145 * 7_500 * 1_000 / 2**20
    assert few == _memory(with_settings(rates={"enabled": False}))
    short = {"windows": [{"size_seconds": 300}], "retention_seconds": 300}
    shorter = _memory({**with_settings(rates=short), "answersPerSecond": 1_000})
    assert shorter - few == pytest.approx((many - few) / 12, abs=2)


def test_a_worker_scores_in_one_process_where_nobody_says_how_many(loaded: Load) -> None:
    """By itself it would take all processors of a node, and more memory than it asks for."""
    found = resources(with_settings(scoring={"processes": None}))
    assert loaded(found).scoring.processes == 1
    assert _memory(with_settings(scoring={"processes": None})) == _memory(MINIMUM)


def test_what_the_values_say_of_memory_holds() -> None:
    assert _memory({**MINIMUM, "resources": {"limits": {"memory": "9000Mi"}}}) == 9000


def test_secrets_of_the_values_are_in_secrets_alone() -> None:
    found = resources(feature("secrets"))
    texts = [str(each) for each in found if each["kind"] != "Secret"]
    assert [text for text in texts if "not-a-real-one" in text] == []
    for each in found:
        if each["kind"] == "Secret":
            values = {base64.b64decode(value) for value in each["data"].values()}
            assert values == {b"not-a-real-one"}


def test_an_address_may_stand_in_a_secret_alone(loaded: Load) -> None:
    values = {
        **with_settings(judges={"endpoints": {"large": {"model": "large-1"}}}),
        "secrets": {"existing": {"judges.endpoints.large.base_url": {"name": "judge", "key": "url"}}},
    }
    address = "https://llm.example.com/v1"
    assert loaded(resources(values), address).judges.endpoints["large"].base_url == address


AUTHORITY = {"secretName": "authority", "caKey": "a"}
CLIENT = {"certKey": "c", "keyKey": "k"}


@pytest.mark.parametrize(
    ("tls", "mounted"),
    [
        ({}, {}),
        (AUTHORITY, {"ssl_cafile": ("authority", "a")}),
        (
            {**AUTHORITY, **CLIENT},
            {
                "ssl_cafile": ("authority", "a"),
                "ssl_certfile": ("authority", "c"),
                "ssl_keyfile": ("authority", "k"),
            },
        ),
        (
            {**AUTHORITY, **CLIENT, "clientSecretName": "client"},
            {
                "ssl_cafile": ("authority", "a"),
                "ssl_certfile": ("client", "c"),
                "ssl_keyfile": ("client", "k"),
            },
        ),
        (
            {**CLIENT, "clientSecretName": "client"},
            {"ssl_certfile": ("client", "c"), "ssl_keyfile": ("client", "k")},
        ),
    ],
    ids=["none", "an authority", "both in one", "both in two", "a client's alone"],
)
def test_certificates_are_where_the_settings_look_for_them(
    tls: Mapping[str, str], mounted: Mapping[str, tuple[str, str]], loaded: Load
) -> None:
    values = {**with_settings(kafka={"security_protocol": "SSL"}), "tls": {"kafka": tls}}
    found = resources({**values, "autoscaling": {"by": "keda"}})
    kafka = loaded(found).kafka
    pod = only(found, "StatefulSet")["spec"]["template"]["spec"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    folders = {mount["mountPath"]: mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
    there = {}
    for setting in ("ssl_cafile", "ssl_certfile", "ssl_keyfile"):
        if file := getattr(kafka, setting):
            sources = volumes[folders[str(file.parent)]]["projected"]["sources"]
            (there[setting],) = (
                (source["secret"]["name"], item["key"])
                for source in sources
                for item in source["secret"]["items"]
                if item["path"] == file.name
            )
    assert there == mounted
    entries = [each for each in found if each["kind"] == "TriggerAuthentication"]
    secrets = [secret for each in entries for secret in each["spec"]["secretTargetRef"]]
    assert sorted((each["name"], each["key"]) for each in secrets) == sorted(mounted.values())


def test_keda_connects_to_kafka_with_the_tokens_that_the_workers_get(loaded: Load) -> None:
    oauth = {"token_url": "https://id.example.com/token", "scope": "a b"}
    kafka = {"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER", "sasl_username": "gate"}
    values = {
        **with_settings(kafka={**kafka, "oauth": {**oauth, "extensions": {"logicalCluster": "lkc-1"}}}),
        "secrets": {"existing": {"kafka.sasl_password": {"name": "gate-oauth", "key": "secret"}}},
        "autoscaling": {"by": "keda"},
    }
    found = resources(values)
    client = loaded(found).kafka
    assert client.sasl_password is not None
    assert (client.sasl_username, client.sasl_password.get_secret_value()) == ("gate", SECRET)
    entries = only(found, "TriggerAuthentication")["spec"]["secretTargetRef"]
    given = {each["parameter"]: (each["name"], each["key"]) for each in entries}
    assert given.pop("password") == ("gate-oauth", "secret")
    (name,) = {name for name, _ in given.values()}
    data = only(found, "Secret", name=name)["data"]
    assert {parameter: base64.b64decode(data[key]).decode() for parameter, (_, key) in given.items()} == {
        "username": "gate",
        "oauthTokenEndpointUri": "https://id.example.com/token",
        "scopes": "a,b",
        "oauthExtensions": "logicalCluster=lkc-1",
    }
    assert only(found, "ScaledObject")["spec"]["triggers"][0]["metadata"]["sasl"] == "oauthbearer"


def test_the_topics_job_has_a_kafka_user_of_its_own_and_workers_do_not() -> None:
    found = resources(feature("tls-scram"))
    users = [
        re.findall(r'sasl_username = "(.+)"', only(found, "ConfigMap", name=name)["data"]["truthgate.toml"])
        for name in ("blue-truthgate", "blue-truthgate-topics")
    ]
    assert users == [["truthgate"], ["topic-admin"]]
    job, workers = (only(found, kind)["spec"]["template"]["spec"] for kind in ("Job", "StatefulSet"))
    assert _secret_names(job) == {"topic-admin", "kafka-cluster-ca-cert"}
    assert _secret_names(workers) == {"truthgate-user", "kafka-cluster-ca-cert"}


def test_the_topics_job_may_have_its_own_client_certificate_and_password_of_the_values() -> None:
    own = {
        "secrets": {"values": {"kafka.ssl_key_password": "x"}},
        "tls": {"kafka": {"clientSecretName": "admin"}},
    }
    values = {
        **with_settings(kafka={"security_protocol": "SSL"}),
        "tls": {"kafka": {"secretName": "workers", "certKey": "c", "keyKey": "k"}},
        "topics": {"job": {"values": own}},
    }
    found = resources(values)
    job, workers = (only(found, kind)["spec"]["template"]["spec"] for kind in ("Job", "StatefulSet"))
    assert _secret_names(job) == {"workers", "admin", "blue-truthgate-topics"}
    assert _secret_names(workers) == {"workers"}
    assert only(found, "Secret")["metadata"]["name"] == "blue-truthgate-topics"


def _secret_names(pod: Mapping[str, Any]) -> set[str]:
    projected = [volume["projected"] for volume in pod["volumes"] if "projected" in volume]
    return {source["secret"]["name"] for each in projected for source in each["sources"]}


def test_what_the_schema_lets_through_is_refused_by_the_worker_in_one_line(loaded: Load) -> None:
    with pytest.raises(InvalidSettings, match="needs sasl_username and sasl_password"):
        loaded(resources(with_settings(kafka={"security_protocol": "SASL_SSL"})))
