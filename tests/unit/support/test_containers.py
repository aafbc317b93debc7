"""Where containers cannot be built and run, the tests that ask for them say in one line why not."""

import os
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.support.containers import base_of, containers

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("missing", ["buildah", "runc"])
def test_a_missing_tool_is_named(missing, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None if name == missing else f"/usr/bin/{name}")
    with pytest.raises(pytest.skip.Exception, match=f"without {missing} "):
        containers.__wrapped__()


def test_who_is_not_root_is_told(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(pytest.skip.Exception, match="as root"):
        containers.__wrapped__()


def test_every_stage_of_the_image_builds_on_the_base_that_is_made_for_the_tests():
    assert base_of(ROOT / "Dockerfile") == "docker.io/library/debian:bookworm-slim"
    stages = [line for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines() if line[:5] == "FROM "]
    assert stages == [
        "FROM debian:${DEBIAN} AS dependencies",
        "FROM dependencies AS own",
        "FROM debian:${DEBIAN}",
    ]


def test_the_image_takes_the_version_of_the_package():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert f"ARG VERSION={version}\n" in (ROOT / "Dockerfile").read_text("utf-8")
