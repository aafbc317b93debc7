"""A stand-in for Kubernetes' API that has some ConfigMaps, for what a chart looks up when it is installed."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import yaml

from tests.support.local_http import QuietHandler, served

_NOT_FOUND = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}


@contextmanager
def api_with(
    config_maps: Iterable[Mapping[str, Any]], known: Iterable[tuple[str, str]], folder: Path
) -> Iterator[Path]:
    """Serve an API that has these ConfigMaps, and knows some kinds, each with its API.

    Gives the file in ``folder`` by which helm reaches it.
    """
    pages = {**_discovery(known), **{_path(each): each for each in config_maps}}

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            found = pages.get(self.path.partition("?")[0])
            status = HTTPStatus.OK if found else HTTPStatus.NOT_FOUND
            self.respond(json.dumps(found or _NOT_FOUND).encode(), status)

    with served(Handler) as address:
        yield _configuration(address, folder)


def _discovery(known: Iterable[tuple[str, str]]) -> dict[str, Mapping[str, Any]]:
    apis = defaultdict(list)
    for api, kind in known:
        plural = f"{kind.lower()}s"
        apis[api].append(
            {"name": plural, "singularName": "", "namespaced": True, "kind": kind, "verbs": ["get"]}
        )
    groups = [{"groupVersion": api, "version": api.partition("/")[2]} for api in apis if "/" in api]
    return {
        "/version": {"major": "1", "minor": "34", "gitVersion": "v1.34.2"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [
                {"name": each["groupVersion"].partition("/")[0], "versions": [each]} for each in groups
            ],
        },
        **{
            f"/{'apis' if '/' in api else 'api'}/{api}": {
                "kind": "APIResourceList",
                "groupVersion": api,
                "resources": kinds,
            }
            for api, kinds in apis.items()
        },
    }


def _path(config_map: Mapping[str, Any]) -> str:
    metadata = config_map["metadata"]
    return f"/api/v1/namespaces/{metadata['namespace']}/configmaps/{metadata['name']}"


def _configuration(address: str, folder: Path) -> Path:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "stand-in", "cluster": {"server": address}}],
        "users": [{"name": "nobody", "user": {}}],
        "contexts": [{"name": "only", "context": {"cluster": "stand-in", "user": "nobody"}}],
        "current-context": "only",
    }
    file = folder / "kubeconfig"
    file.write_text(yaml.safe_dump(content), "utf-8")
    return file
