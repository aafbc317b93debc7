"""Names, labels and quantities that users choose: Kubernetes takes what is made of them, or Helm refuses."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from tests.support.charts import MINIMUM, Resource, only, refusal, resources, template, with_settings

#: RFC 1035, which Kubernetes holds Services to.
SERVICE = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
ALL = {"libretranslate": {"enabled": True}, "dashboard": {"enabled": True}}

#: YAML reads the first ones as truth or nothing where nobody quotes them; 53 characters are Helm's most.
RELEASES = ["no", "true", "null", "a.b", "b" + "c" * 52, "truthgate-" + "c" * 42 + "d"]


def _texts(of: Any) -> Iterator[Any]:
    """Give all names and labels of a resource, its pods' too."""
    if isinstance(of, dict):
        for key, value in of.items():
            if key in {"labels", "annotations", "matchLabels"}:
                yield from value.values()
            if key in {"name", "namespace", "serviceName", "claimName"}:
                yield value
            yield from _texts(value)
    elif isinstance(of, list):
        for each in of:
            yield from _texts(each)


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_of_any_name_has_names_that_kubernetes_takes(release: str) -> None:
    found = resources({**MINIMUM, **ALL}, release=release)
    assert [text for each in found for text in _texts(each) if not isinstance(text, str)] == []
    services = [each["metadata"]["name"] for each in found if each["kind"] == "Service"]
    assert len(services) == 3
    assert [name for name in services if not SERVICE.fullmatch(name)] == []


def test_workers_find_the_libretranslate_of_a_release_with_a_long_name() -> None:
    found = resources({**MINIMUM, **ALL}, release=RELEASES[-1])
    service = only(found, "Service", "libretranslate")["metadata"]["name"]
    assert f'base_url = "http://{service}:5000"' in str(only(found, "ConfigMap", "worker")["data"]).replace(
        "\\", ""
    )


def test_a_release_whose_name_no_service_may_have_is_refused() -> None:
    done = template(MINIMUM, release="2nd")
    assert "2nd-truthgate cannot be the name of a Service" in done.stderr


def _repeated(node: yaml.Node) -> Iterator[str]:
    """Give the keys that a mapping has twice, which readers of YAML refuse or take one of."""
    if isinstance(node, yaml.MappingNode):
        keys = [key.value for key, _ in node.value]
        yield from (key for key in set(keys) if keys.count(key) > 1)
    for child in node.value if isinstance(node, yaml.CollectionNode) else ():
        for part in child if isinstance(child, tuple) else (child,):
            yield from _repeated(part)


OWN = {"app.kubernetes.io/part-of": "platform", "team": "a", "grafana_dashboard": "0", "release": "a"}
CHOOSES = {
    "app.kubernetes.io/name": "x",
    "app.kubernetes.io/component": "x",
    "app.kubernetes.io/version": "x",
}


def test_no_label_or_annotation_of_users_stands_there_twice() -> None:
    labels = {**OWN, **CHOOSES, "truthgate/service": "x", "strimzi.io/cluster": "x"}
    more = {
        "commonLabels": labels,
        "podLabels": labels,
        "podAnnotations": {"checksum/config": "x", "checksum/secret": "x"},
        "service": {"labels": labels},
        "serviceMonitor": {"enabled": True, "labels": labels},
        "dashboard": {"enabled": True, "labels": labels},
        "secrets": {"values": {"kafka.sasl_password": "x"}},
    }
    jobs = {"job": {"podLabels": labels}}
    for topics in ({"create": "job", **jobs}, {"create": "strimzi", "strimzi": {"cluster": "my"}}):
        done = template({**MINIMUM, **more, "topics": topics})
        assert [key for node in yaml.compose_all(done.stdout) for key in _repeated(node)] == []


def test_users_labels_change_neither_what_pods_are_chosen_by_nor_what_the_others_are() -> None:
    usual = {each["kind"]: each for each in resources(MINIMUM)}
    labels = {**OWN, **CHOOSES}
    changed = {
        each["kind"]: each for each in resources({**MINIMUM, "commonLabels": labels, "podLabels": labels})
    }
    before, now = (each["StatefulSet"]["spec"] for each in (usual, changed))
    assert now["selector"] == before["selector"]
    assert now["template"]["metadata"]["labels"] == {**before["template"]["metadata"]["labels"], **OWN} | {
        "app.kubernetes.io/version": "x"
    }
    made = changed["StatefulSet"]["metadata"]["labels"]
    assert made == {**usual["StatefulSet"]["metadata"]["labels"], **OWN}


def _worker_resources(**given: Mapping[str, Any]) -> dict[str, Any]:
    pod = only(resources({**MINIMUM, "resources": given}), "StatefulSet")["spec"]["template"]["spec"]
    return pod["containers"][0]["resources"]


def test_a_request_follows_a_limit_and_the_rest_is_as_shipped() -> None:
    usual = _worker_resources()
    low = _worker_resources(limits={"memory": "0.5Gi", "cpu": "500m"})
    assert low["requests"] == low["limits"] == {"memory": "0.5Gi", "cpu": "500m"}
    memory = _worker_resources(limits={"memory": "9G"})
    assert memory["requests"] == {**usual["requests"], "memory": "9G"}
    both = _worker_resources(limits={"memory": "9G"}, requests={"memory": "2G"})
    assert (both["requests"]["memory"], both["limits"]["memory"]) == ("2G", "9G")
    assert _worker_resources(requests={"memory": "64Mi"})["limits"] == usual["limits"]


def _images(**values: Any) -> set[str]:
    found = resources({**MINIMUM, "libretranslate": {"enabled": True}, **values})
    return set(re.findall(r"'image': '([^']+)'", str(found)))


def test_a_registry_for_all_images_replaces_their_own() -> None:
    assert _images() == {"truthgate:0.1.0", "docker.io/libretranslate/libretranslate:v1.9.6"}
    assert _images(image={"registry": "a.example.com"}) >= {"a.example.com/truthgate:0.1.0"}
    digest = f"sha256:{'a' * 64}"
    images = _images(
        image={"registry": "a.example.com", "digest": digest},
        **{"global": {"imageRegistry": "mirror:5000", "other": 1}},
    )
    assert images == {f"mirror:5000/truthgate@{digest}", "mirror:5000/libretranslate/libretranslate:v1.9.6"}


def test_reloader_finds_its_annotation_on_the_workers() -> None:
    annotations = {"reloader.stakater.com/auto": "true"}
    workers = only(resources({**MINIMUM, "commonAnnotations": annotations}), "StatefulSet")
    assert workers["metadata"]["annotations"] == annotations


TAKEN = {
    "TRUTHGATE_CONFIG": "the chart's own file",
    "TRUTHGATE_KAFKA__GROUP_INSTANCE_ID": "the pod's name",
    "TRUTHGATE_KAFKA__TOPIC_PREFIX": "settings.kafka.topic_prefix",
    "truthgate_kafka__consumer_group": "settings.kafka.consumer_group",
    "TRUTHGATE_KAFKA": "settings.kafka",
    "TRUTHGATE_WEB__PORT": "settings.web.port",
    "TRUTHGATE_FLOW__ANSWER_TIMEOUT_SECONDS": "settings.flow.answer_timeout_seconds",
    "TRUTHGATE_KAFKA__DELIVERY_TIMEOUT_SECONDS": "settings.kafka.delivery_timeout_seconds",
    "TRUTHGATE_KAFKA__SASL_PASSWORD": "kafka.sasl_password of secrets",
    "TRUTHGATE_KAFKA__SASL_PASSWORD_FILE": "kafka.sasl_password of secrets",
}


@pytest.mark.parametrize("variable", TAKEN)
def test_a_variable_that_goes_around_what_the_chart_derives_is_refused(variable: str) -> None:
    """Two releases could share topics unseen, and probes, times and memory would not fit."""
    secrets = {"existing": {"kafka.sasl_password": {"name": "a", "key": "b"}}}
    told = refusal({**MINIMUM, "secrets": secrets, "extraEnv": [{"name": variable, "value": "1"}]})
    assert f"extraEnv has {variable}, which the chart reads or sets: it is {TAKEN[variable]}" in told


def test_other_variables_of_truthgate_are_taken() -> None:
    """An address of the node, or a file that a vault's agent mounts, stand in no values."""
    names = ["TRUTHGATE_TELEMETRY__OTLP_ENDPOINT", "TRUTHGATE_KAFKA__SASL_PASSWORD_FILE"]
    extra = [{"name": name, "value": "x"} for name in names]
    pod = only(resources({**MINIMUM, "extraEnv": extra}), "StatefulSet")["spec"]["template"]["spec"]
    assert [each["name"] for each in pod["containers"][0]["env"]][-2:] == names


def _context(found: list[Resource]) -> dict[str, Any]:
    return only(found, "Deployment")["spec"]["template"]["spec"]["securityContext"]


def test_libretranslate_has_the_security_context_of_its_own_values_alone() -> None:
    own = {"enabled": True, "podSecurityContext": {"runAsUser": None}}
    found = resources({**MINIMUM, "libretranslate": own, "podSecurityContext": {"supplementalGroups": [5]}})
    assert not {"runAsUser", "supplementalGroups"} & _context(found).keys()
    assert _context(resources({**MINIMUM, "libretranslate": {"enabled": True}}))["runAsUser"] == 1032


def test_what_reads_like_something_else_in_yaml_stays_a_text() -> None:
    values = {
        **with_settings(),
        "persistence": {"storageClassName": "-"},
        "secrets": {"existing": {"kafka.sasl_password": {"name": "a", "key": "1.0"}}},
    }
    workers = only(resources(values), "StatefulSet")["spec"]
    assert workers["volumeClaimTemplates"][0]["spec"]["storageClassName"] == "-"
    (source,) = (each for each in workers["template"]["spec"]["volumes"] if each["name"] == "secrets")
    assert source["projected"]["sources"][0]["secret"]["items"][0]["key"] == "1.0"
