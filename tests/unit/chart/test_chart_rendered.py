"""The chart with the values of each feature: what helm makes of them, and that Kubernetes takes it."""

import re
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.support.charts import (
    BUILT_IN,
    CHART,
    FEATURES,
    MINIMUM,
    NAMESPACE,
    RENDERED,
    STANDARD_LABELS,
    Resource,
    feature,
    helm,
    only,
    rendered,
    resources,
)

#: The oldest that the chart is for, and the newest whose schemas there are.
VERSIONS = ("1.30", kubernetes_validate.latest_version())

#: None of them is a part of the node; `restricted` allows some more.
VOLUMES = {"configMap", "emptyDir", "persistentVolumeClaim", "projected", "secret"}


def pods(found: list[Resource]) -> Iterator[dict[str, Any]]:
    """Give the specification of every pod."""
    for each in found:
        if each["kind"] == "Pod":
            yield each["spec"]
        elif each["kind"] in {"StatefulSet", "Deployment", "Job"}:
            yield each["spec"]["template"]["spec"]


@pytest.mark.parametrize("name", FEATURES)
def test_helm_finds_no_fault_with_the_chart(name: str) -> None:
    done = helm("lint", "--strict", CHART, f"--values={feature(name)}")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_is_rendered_as_before(name: str) -> None:
    file, text = rendered(name)
    assert text == (RENDERED / file).read_text("utf-8"), "run `make generate` and look at what changed"


def test_nothing_is_compared_with_a_feature_that_is_gone() -> None:
    assert sorted(path.stem for path in RENDERED.iterdir()) == FEATURES


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", FEATURES)
def test_kubernetes_knows_every_field_of_every_resource(name: str, version: str) -> None:
    own = [each for each in resources(feature(name)) if each["apiVersion"] in BUILT_IN]
    assert own
    for each in own:
        kubernetes_validate.validate(each, version, strict=True)


def test_a_field_that_kubernetes_does_not_know_is_found() -> None:
    workers = only(resources(feature("default")), "StatefulSet")
    workers["spec"]["replica"] = 2
    with pytest.raises(kubernetes_validate.ValidationError, match="replica"):
        kubernetes_validate.validate(workers, VERSIONS[0], strict=True)


@pytest.mark.parametrize("name", FEATURES)
def test_every_resource_has_the_standard_labels_and_its_namespace(name: str) -> None:
    found = resources(feature(name))
    own = [each for each in found if "labels" in each["metadata"]]
    # Those of users are theirs alone.
    assert len(found) - len(own) == (2 if name == "extras" else 0)
    for each in own:
        assert set(STANDARD_LABELS) <= each["metadata"]["labels"].keys(), each["metadata"]["name"]
        elsewhere = "kafka" if each["kind"] == "KafkaTopic" else NAMESPACE
        assert each["metadata"]["namespace"] == elsewhere


@pytest.mark.parametrize("name", [name for name in FEATURES if name != "extras"])
def test_no_pod_has_a_right_that_it_does_not_need(name: str) -> None:
    """What the standard ``restricted`` asks for, and more."""
    found = list(pods(resources(feature(name))))
    assert found
    for pod in found:
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
        assert {tuple(volume)[1] for volume in pod.get("volumes", ())} <= VOLUMES
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert {"requests", "limits"} <= container["resources"].keys()
            assert "/tmp" in [mount["mountPath"] for mount in container["volumeMounts"]]


def test_the_pages_are_served_under_a_host_name_by_the_service_that_has_them() -> None:
    found = resources(feature("ingress"))
    spec = only(found, "Ingress")["spec"]
    (rule,) = spec["rules"]
    (path,) = rule["http"]["paths"]
    backend = path["backend"]["service"]
    service = only(found, "Service", name=backend["name"])
    assert backend["port"]["name"] in {port["name"] for port in service["spec"]["ports"]}
    assert service["metadata"]["labels"]["truthgate/service"] == "pages"
    assert spec["tls"] == [{"hosts": [rule["host"]], "secretName": "truthgate-certificate"}]
    assert "Ingress" not in {each["kind"] for each in resources(feature("default"))}


def test_the_route_of_the_readme_leads_to_the_service_that_has_the_pages() -> None:
    readme = (CHART / "README.md").read_text("utf-8")
    (example,) = [each for each in re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL) if "HTTPRoute" in each]
    found = resources({**MINIMUM, **yaml.safe_load(example), "service": {"port": 80}})
    (backend,) = only(found, "HTTPRoute")["spec"]["rules"][0]["backendRefs"]
    service = only(found, "Service", name=backend["name"])
    assert [port["port"] for port in service["spec"]["ports"]] == [backend["port"]] == [80]
    assert service["metadata"]["labels"]["truthgate/service"] == "pages"


def test_a_budget_is_of_workers_down_or_of_workers_up() -> None:
    down, up = (
        only(resources(feature(name)), "PodDisruptionBudget")["spec"] for name in ("default", "ingress")
    )
    assert (down["maxUnavailable"], up["minAvailable"]) == (1, 1)
    assert "minAvailable" not in down
    assert "maxUnavailable" not in up
