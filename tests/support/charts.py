"""The chart, rendered by helm as it would be installed.

``python -m tests.support.charts`` renews the renders that tests compare with.
"""

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.support.kubernetes_tools import kubernetes_tool

CHART = Path(__file__).parents[2] / "helm" / "truthgate"
FEATURES = sorted(path.name.removesuffix("-values.yaml") for path in (CHART / "ci").glob("*-values.yaml"))
RENDERED = Path(__file__).parents[1] / "unit" / "chart" / "rendered"
RELEASE, NAMESPACE = "blue", "chat"

#: The least that has to be said.
MINIMUM: Mapping[str, Any] = {"settings": {"kafka": {"bootstrap_servers": "kafka:9092"}}}

#: The APIs that every Kubernetes has.
BUILT_IN = ("v1", "apps/v1", "batch/v1", "policy/v1", "networking.k8s.io/v1", "autoscaling/v2")

#: Every resource has them.
STANDARD_LABELS = (
    "app.kubernetes.io/name",
    "app.kubernetes.io/instance",
    "app.kubernetes.io/part-of",
    "app.kubernetes.io/version",
    "app.kubernetes.io/managed-by",
    "helm.sh/chart",
)

_SECONDS = 60
#: What tests compare with what truthgate writes, and which is long.
_ELSEWHERE = "(compared with `truthgate monitoring`)"

Resource = dict[str, Any]


def feature(name: str) -> Path:
    """Give the file of values of a feature."""
    return CHART / "ci" / f"{name}-values.yaml"


def helm(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run helm to its end, without a cluster; nothing of this user's configuration reaches it."""
    return subprocess.run(
        [kubernetes_tool("helm"), *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        env={"HOME": "/nonexistent", "KUBECONFIG": "/dev/null"},
    )


def template(
    values: Path | Mapping[str, Any], *options: str, release: str = RELEASE
) -> subprocess.CompletedProcess[str]:
    """Have helm render the chart with values, a file of them or the values themselves."""
    given, stdin = (values, "") if isinstance(values, Path) else ("-", json.dumps(values))
    place = (f"--namespace={NAMESPACE}", f"--values={given}")
    return helm("template", release, CHART, *place, *options, stdin=stdin)


def resources(values: Path | Mapping[str, Any], *options: str, release: str = RELEASE) -> list[Resource]:
    """Give the resources that the chart makes of values; AssertionError with helm's words where it fails."""
    done = template(values, *options, release=release)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def refusal(values: Mapping[str, Any]) -> str:
    """Give what helm says of values that it has to refuse."""
    done = template(values)
    assert done.returncode != 0, "helm renders what it should refuse"
    return " ".join(done.stderr.split())


def only(found: Iterable[Resource], kind: str, component: str = "", name: str = "") -> Resource:
    """Give the one resource of a kind, of a component or a name where there are several."""
    label = "app.kubernetes.io/component"
    (resource,) = (
        each
        for each in found
        if each["kind"] == kind
        and component in ("", each["metadata"].get("labels", {}).get(label))
        and name in ("", each["metadata"]["name"])
    )
    return resource


def with_settings(**sections: Mapping[str, Any]) -> dict[str, Any]:
    """Give the least of values with sections of settings in them."""
    kafka = {**MINIMUM["settings"]["kafka"], **sections.pop("kafka", {})}
    return {"settings": {"kafka": kafka, **sections}}


def config_file(found: Iterable[Resource]) -> str:
    """Give the configuration file of the workers."""
    return only(found, "ConfigMap", "worker")["data"]["truthgate.toml"]


@cache
def compared(name: str) -> dict[str, str]:
    """Give a feature's resources as they are compared: by kind and name, without what other tests compare."""
    found = {}
    for each in resources(feature(name)):
        for label in STANDARD_LABELS:
            each["metadata"].get("labels", {}).pop(label, None)
        if each["kind"] == "PrometheusRule":
            each["spec"]["groups"] = _ELSEWHERE
        if each["kind"] == "ConfigMap" and each["metadata"]["name"].endswith("-dashboard"):
            each["data"] = dict.fromkeys(each["data"], _ELSEWHERE)
        text = yaml.dump(each, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
        found[f"{each['kind']} {each['metadata']['name']}"] = text
    return dict(sorted(found.items()))


def rendered(name: str) -> tuple[str, str]:
    """Give the file that a feature is compared with, and its text: what differs from the default."""
    default, found = compared("default"), compared(name)
    if name == "default":
        return "default.yaml", "---\n".join(found.values())
    return f"{name}.diff", "".join(_differences(default, found))


def _differences(default: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    for key in sorted({*default, *found}):
        before, now = (each.get(key, "").splitlines(keepends=True) for each in (default, found))
        if not now:
            yield f"{key} is not there\n"
        elif changed := [line for line in list(unified_diff(before, now, n=0))[2:] if line[0] in "+-"]:
            yield f"{key}{'' if before else ' is new'}\n"
            yield from changed


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such."""


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)

if __name__ == "__main__":
    RENDERED.mkdir(exist_ok=True)
    for each in RENDERED.iterdir():
        each.unlink()
    for file, text in map(rendered, FEATURES):
        (RENDERED / file).write_text(text, "utf-8")
