"""Two releases never share topics or a consumer group unawares, and so never publish the same rates twice.

The chart asks no cluster for that, so that ``helm template`` and with it Argo CD render what Helm installs.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.charts import (
    CHART,
    FEATURES,
    MINIMUM,
    NAMESPACE,
    RELEASE,
    Resource,
    feature,
    helm,
    resources,
    template,
    with_settings,
)
from tests.support.kubernetes_api import api_with


def _claims(release: str = RELEASE, **kafka: str) -> list[Resource]:
    """Give what a release claims, as it is in the cluster once Helm has installed it."""
    found = resources(with_settings(kafka=kafka), release=release)
    claims = [each for each in found if each["metadata"]["labels"]["app.kubernetes.io/component"] == "claim"]
    for each in claims:
        owner = {"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": NAMESPACE}
        each["metadata"]["annotations"] = owner
    return claims


def _names(claims: list[Resource]) -> set[str]:
    return {each["metadata"]["name"] for each in claims}


def _told(values: Mapping[str, Any], there: list[Resource], folder: Path) -> str:
    """Give what helm says of a release where other releases' claims are there; empty where it takes it."""
    kinds = {(each["apiVersion"], each["kind"]) for each in resources(values)}
    with api_with(there, kinds, folder) as kubeconfig:
        done = template(
            values, "--dry-run=server", "--disable-openapi-validation", f"--kubeconfig={kubeconfig}"
        )
    assert bool(done.returncode) == bool(done.stderr)
    return done.stderr


def test_a_release_in_shadow_claims_its_group_alone_so_that_the_one_that_decides_can_be_there() -> None:
    kafka = {"topic_prefix": "a.", "consumer_group": "a"}
    shadow = resources(with_settings(kafka=kafka, shadow={"name": "strict"}), release="green")
    (claim,) = [each for each in shadow if "claim" in each["metadata"]["labels"].values()]
    assert claim["data"] == {"consumer_group": "a-shadow-strict"}
    assert claim["metadata"]["name"] not in _names(_claims("blue", **kafka))


def test_releases_claim_different_names_unless_they_are_told_to_share() -> None:
    blue = _names(_claims("blue"))
    assert len(blue) == 2
    assert blue.isdisjoint(_names(_claims("green")))
    for shared in ({"topic_prefix": "a."}, {"topic_prefix": ""}, {"consumer_group": "a"}):
        assert len(_names(_claims("blue", **shared)) & _names(_claims("green", **shared))) == 1


def test_a_release_takes_what_nobody_or_it_itself_has(tmp_path: Path) -> None:
    assert _told(MINIMUM, [*_claims("blue"), *_claims("green")], tmp_path) == ""


@pytest.mark.parametrize("shared", [{"topic_prefix": "a."}, {"topic_prefix": ""}, {"consumer_group": "a"}])
def test_a_release_is_refused_what_another_has(shared: dict[str, str], tmp_path: Path) -> None:
    told = _told(with_settings(kafka=shared), _claims("green", **shared), tmp_path)
    (setting,) = shared
    assert f'ConfigMap "truthgate-{setting.replace("_", "-")}-' in told
    assert 'key "meta.helm.sh/release-name" must equal "blue": current value is "green"' in told


def test_a_release_that_is_to_share_claims_nothing(tmp_path: Path) -> None:
    values = {**with_settings(kafka={"topic_prefix": "a."}), "claims": {"enabled": False}}
    assert _told(values, _claims("green", topic_prefix="a."), tmp_path) == ""
    assert "claim" not in str([each["metadata"]["labels"] for each in resources(values)])


@pytest.mark.parametrize("name", FEATURES)
def test_what_is_rendered_without_a_cluster_is_what_helm_installs(name: str, tmp_path: Path) -> None:
    values = yaml.safe_load(feature(name).read_text("utf-8"))
    rendered = template(values).stdout
    kinds = {(each["apiVersion"], each["kind"]) for each in resources(values)}
    place = (f"--namespace={NAMESPACE}", "--values=-", "--disable-openapi-validation", "--output=json")
    with api_with(_claims("blue"), kinds, tmp_path) as kubeconfig:
        done = helm(
            "install",
            RELEASE,
            CHART,
            *place,
            "--dry-run=server",
            f"--kubeconfig={kubeconfig}",
            stdin=json.dumps(values),
        )
    assert done.returncode == 0, done.stderr
    release = json.loads(done.stdout)
    installed = "\n---\n".join([release["manifest"], *(hook["manifest"] for hook in release["hooks"])])
    assert _sorted(installed) == _sorted(rendered)


def _sorted(text: str) -> list[Resource]:
    found = [each for each in yaml.safe_load_all(text) if each]
    return sorted(found, key=lambda each: (each["kind"], each["metadata"]["name"]))
