"""The review desk in the chart: its settings, its secrets, and what it must not be without."""

import tomllib
from typing import Any

import pytest

from streams.settings import DeskSettings, Settings
from tests.support.charts import MINIMUM, feature, only, refusal, resources, with_settings

TOKEN = {"existing": {"desk.token": {"name": "desk", "key": "token"}}}


def desk(**values: Any) -> dict[str, Any]:
    return {**MINIMUM, "desk": {"enabled": True, "values": {"secrets": TOKEN}, **values}}


def test_without_being_asked_for_there_is_no_desk() -> None:
    assert not [each for each in resources(MINIMUM) if "desk" in each["metadata"]["name"]]


def test_the_desk_has_its_own_settings_and_the_workers_do_not_have_its_secrets() -> None:
    found = resources(feature("desk"))
    written = tomllib.loads(only(found, "ConfigMap", "desk")["data"]["truthgate.toml"])
    settings = DeskSettings(**written["desk"])
    assert (settings.host, str(settings.store)) == ("0.0.0.0", "/var/lib/truthgate/desk")
    assert not settings.lacks_access_control
    assert written["kafka"]["topic_prefix"] == "chat.blue."
    assert "desk" not in only(found, "ConfigMap", "worker")["data"]["truthgate.toml"]
    assert "oidc" not in str(only(found, "StatefulSet"))
    assert "truthgate-desk-oidc" in str(only(found, "Deployment", "desk"))


def test_the_desk_may_have_a_kafka_user_of_its_own() -> None:
    own = {"settings": {"kafka": {"sasl_username": "desk"}}, "secrets": TOKEN}
    found = resources(
        {**with_settings(kafka={"sasl_username": "workers"}), "desk": {"enabled": True, "values": own}}
    )
    users = {
        each: tomllib.loads(only(found, "ConfigMap", each)["data"]["truthgate.toml"])["kafka"][
            "sasl_username"
        ]
        for each in ("worker", "desk")
    }
    assert users == {"worker": "workers", "desk": "desk"}


def test_the_desk_is_one_pod_on_a_volume_that_outlives_the_release() -> None:
    found = resources(desk())
    spec = only(found, "Deployment", "desk")["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    claim = only(found, "PersistentVolumeClaim", "desk")["metadata"]
    assert claim["annotations"] == {"helm.sh/resource-policy": "keep"}
    pod = spec["template"]["spec"]
    assert {"name": "state", "persistentVolumeClaim": {"claimName": claim["name"]}} in pod["volumes"]
    assert {"name": "state", "mountPath": "/var/lib/truthgate"} in pod["containers"][0]["volumeMounts"]
    own = resources(desk(persistence={"existingClaim": "mine"}))
    assert not [each for each in own if each["kind"] == "PersistentVolumeClaim"]
    assert "'claimName': 'mine'" in str(only(own, "Deployment", "desk"))


def test_a_standby_has_a_claim_of_its_own_and_the_first_one_keeps_its_claim() -> None:
    one, found = resources(desk()), resources(desk(replicaCount=2))
    first, second = (only(found, "Deployment", "desk", f"blue-truthgate-desk{end}") for end in ("", "-2"))
    assert (
        tomllib.loads(only(found, "ConfigMap", "desk")["data"]["truthgate.toml"])["desk"]["standby"] is True
    )
    assert "standby" not in only(one, "ConfigMap", "desk")["data"]["truthgate.toml"]
    before = only(one, "Deployment", "desk")["spec"]
    assert first["spec"]["selector"] == before["selector"] != second["spec"]["selector"]
    assert first["spec"]["template"]["spec"]["volumes"] == before["template"]["spec"]["volumes"]
    service = only(found, "Service", "desk")["spec"]["selector"]
    for each, claim in ((first, "blue-truthgate-desk"), (second, "blue-truthgate-desk-2")):
        labels = each["spec"]["template"]["metadata"]["labels"]
        assert each["spec"]["selector"]["matchLabels"].items() <= labels.items()
        assert service.items() <= labels.items()
        assert f"'claimName': '{claim}'" in str(each)
        assert only(found, "PersistentVolumeClaim", "desk", claim)["metadata"]["annotations"]
        # What "helm upgrade --wait" expects: no pod, since a standby is never ready.
        assert each["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    own = resources(desk(replicaCount=2, persistence={"existingClaim": "mine"}))
    assert only(own, "PersistentVolumeClaim", "desk")["metadata"]["name"] == "blue-truthgate-desk-2"


def test_the_pod_is_as_confined_as_a_workers() -> None:
    found = resources(desk())
    worker, pod = (
        only(found, *kind)["spec"]["template"]["spec"] for kind in (("StatefulSet",), ("Deployment", "desk"))
    )
    assert pod["securityContext"] == worker["securityContext"]
    assert pod["containers"][0]["securityContext"] == worker["containers"][0]["securityContext"]
    assert pod["automountServiceAccountToken"] is False


def test_port_and_probes_follow_from_the_settings() -> None:
    number = Settings().desk.port + 1
    found = resources({**with_settings(desk={"port": number}), "desk": desk()["desk"]})
    container = only(found, "Deployment", "desk")["spec"]["template"]["spec"]["containers"][0]
    assert container["ports"] == [{"name": "http", "containerPort": number, "protocol": "TCP"}]
    paths = {
        each: container[f"{each}Probe"]["httpGet"]["path"] for each in ("startup", "liveness", "readiness")
    }
    assert paths == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}
    (port,) = only(found, "Service", "desk")["spec"]["ports"]
    assert (port["port"], port["targetPort"]) == (Settings().desk.port, "http")


def test_a_change_of_its_settings_or_secrets_restarts_it() -> None:
    def checksums(**values: Any) -> dict[str, str]:
        found = resources(desk(values=values))
        return only(found, "Deployment", "desk")["spec"]["template"]["metadata"]["annotations"]

    first = checksums(secrets={"values": {"desk.token": "a-token-of-tests-1"}})
    assert set(first) == {"checksum/config", "checksum/secret"}
    other = checksums(secrets={"values": {"desk.token": "a-token-of-tests-2"}})
    assert first["checksum/secret"] != other["checksum/secret"]
    changed = checksums(secrets=TOKEN, settings={"desk": {"undo_seconds": 3}})
    assert changed["checksum/config"] != first["checksum/config"]


def test_its_metrics_are_not_those_of_a_worker() -> None:
    found = resources(desk() | {"serviceMonitor": {"enabled": True}})
    jobs = {}
    for component in ("worker", "desk"):
        monitor = only(found, "ServiceMonitor", component)["spec"]
        service = only(found, "Service", component, f"blue-truthgate{'-desk' * (component == 'desk')}")[
            "metadata"
        ]
        assert monitor["selector"]["matchLabels"].items() <= service["labels"].items()
        jobs[component] = monitor["endpoints"][0]["relabelings"][0]["replacement"]
    assert jobs == {"worker": "blue-truthgate", "desk": "blue-truthgate-desk"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (desk(values={}), "desk.enabled needs a login"),
        (desk(replicaCount=3), "replicaCount"),
        (
            desk(values={"settings": {"desk": {"host": "127.0.0.1"}}, "secrets": TOKEN}),
            "cannot reach 127.0.0.1",
        ),
        (desk(values={"settings": {"desk": {"port": 0}}, "secrets": TOKEN}), "port 0"),
        (desk(values={"settings": {"desk": {"tokn": "x"}}}), "tokn"),
        (desk(values={"replicas": 2}), "replicas"),
    ],
)
def test_what_could_not_run_is_refused(values: dict[str, Any], message: str) -> None:
    assert message in refusal(values)
