"""The first install as docs/deploy.md shows it, as far as it goes without a registry and a cluster."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import kubernetes_validate
import pytest
import yaml

from tests.support.charts import Resource, config_file, only
from tests.support.checkout import linked_checkout
from tests.support.kubernetes_tools import kubernetes_tool
from tests.support.site import blocks, blocks_of, command_lines, text_of

PAGE = "docs/deploy.md"
PASSWORD = "a-password-of-tests"
_SECONDS = 120
_INSTALLING = ("README.md", "docs/http.md", "docs/monitoring.md")


@dataclass
class FirstInstall:
    """What the commands of the page have made so far, in a folder that looks like the checkout."""

    folder: Path
    images: list[str] = field(default_factory=list)
    pushed: list[str] = field(default_factory=list)
    objects: list[Resource] = field(default_factory=list)
    release: list[Resource] = field(default_factory=list)

    def step(self, command: str) -> None:
        """Run a command of the page; AssertionError where nothing here knows it."""
        match shlex.split(command.replace("$PASSWORD", PASSWORD)):
            case ["docker", "build", "--tag", tag, "."]:
                assert (self.folder / "Dockerfile").is_file()
                self.images.append(tag)
            case ["docker", "push", tag]:
                assert tag in self.images
                self.pushed.append(tag)
            case ["kubectl", "create", *what]:
                made = self._run(
                    kubernetes_tool("kubectl"), "create", *what, "--dry-run=client", "--output=yaml"
                )
                self.objects.append(yaml.safe_load(made))
            case ["helm", "install", *what, "--wait", "--timeout", _]:
                rendered = self._run(kubernetes_tool("helm"), "template", *what)
                self.release = [each for each in yaml.safe_load_all(rendered) if each]
            case ["helm", "test", name, "--namespace", namespace, "--logs"]:
                pod = only(self.release, "Pod")
                assert pod["metadata"]["annotations"]["helm.sh/hook"] == "test"
                assert pod["metadata"]["labels"]["app.kubernetes.io/instance"] == name
                assert pod["metadata"]["namespace"] == namespace
            case ["python3", "-m", "pip", *what]:
                self._run(sys.executable, "-m", "pip", *what)
            case ["helm", "package", *what]:
                self._run(kubernetes_tool("helm"), "package", *what)
            case ["helm", "push", file, address]:
                assert (self.folder / file).is_file()
                assert address.startswith("oci://registry.example.com/")
            case _:
                raise AssertionError(f"no test runs {command}")

    def _run(self, *arguments: str | Path) -> str:
        done = subprocess.run(
            list(map(str, arguments)),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
            # No index is asked: what builds the wheel is installed.
            env={**os.environ, "KUBECONFIG": "/dev/null", "PIP_NO_BUILD_ISOLATION": "0"},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> FirstInstall:
    """Do everything that the page shows, in its order."""
    done = FirstInstall(linked_checkout(tmp_path_factory.mktemp("first") / "checkout"))
    for block in blocks_of(PAGE):
        if block.language == "yaml":
            (done.folder / "values.yaml").write_text(block.text, "utf-8")
        else:
            assert block.language == "sh"
            for command in command_lines(block.text):
                done.step(command)
    return done


def test_kubernetes_takes_everything_that_the_page_makes(installed: FirstInstall) -> None:
    assert [each["kind"] for each in installed.objects] == ["Namespace", "Secret"]
    assert {"StatefulSet", "Job"} <= {each["kind"] for each in installed.release}
    for each in (*installed.objects, *installed.release):
        kubernetes_validate.validate(each, "1.30", strict=True)


def test_the_pods_run_the_image_that_was_pushed(installed: FirstInstall) -> None:
    containers = [each for each in _within(installed.release) if "image" in each]
    assert len(containers) == 3, "a worker, the job and the test"
    assert {each["image"] for each in containers} == set(installed.pushed)


def test_every_secret_that_the_pods_read_is_there_with_its_key(installed: FirstInstall) -> None:
    (namespace, secret) = installed.objects
    assert secret["metadata"]["namespace"] == namespace["metadata"]["name"]
    assert {each["metadata"]["namespace"] for each in installed.release} == {namespace["metadata"]["name"]}
    sources = [each["secret"] for each in _within(installed.release) if "secret" in each]
    assert sources
    for each in sources:
        assert each["name"] == secret["metadata"]["name"]
        assert {item["key"] for item in each["items"]} <= secret["data"].keys()


def test_the_chatbot_writes_to_the_topic_that_the_page_names(installed: FirstInstall) -> None:
    assert "`chatbot.support.answers`" in text_of(PAGE)
    assert 'topic_prefix = "chatbot.support."' in config_file(installed.release)


def test_wheel_and_chart_are_files_and_the_chart_renders_from_its_own(installed: FirstInstall) -> None:
    (wheel,) = installed.folder.glob("dist/*.whl")
    (chart,) = installed.folder.glob("dist/*.tgz")
    assert wheel.name == "truthgate-0.1.0-py3-none-any.whl"
    with ZipFile(wheel) as content:
        names = set(content.namelist())
    typed = {f"{each}/py.typed" for each in ("schemas", "scoring", "streams")}
    assert {"streams/desk/locale/nl/LC_MESSAGES/desk.mo", *typed} <= names
    again = FirstInstall(installed.folder)
    again.step(f"helm install support {chart} --namespace chatbot --values values.yaml --wait --timeout 1m")
    assert again.release == installed.release


@pytest.mark.parametrize("page", _INSTALLING)
def test_pip_installs_from_the_checkout_what_a_page_says(page: str, tmp_path: Path) -> None:
    (command,) = (
        line
        for block in blocks("sh", page)
        for line in command_lines(block.text)
        if line.startswith("pip install")
    )
    FirstInstall(linked_checkout(tmp_path / "checkout")).step(f"python3 -m {command} --dry-run --no-deps")


def test_no_page_takes_truthgate_from_where_it_is_not(installed: FirstInstall) -> None:
    """Until there is a release: then the pages say where it is."""
    for page in (*_INSTALLING, "docs/python.md", PAGE):
        assert "pip install truthgate" not in text_of(page)
        assert "ublished yet" in text_of(page) or page == "docs/monitoring.md"


def _within(of: Any) -> Iterator[dict[str, Any]]:
    """Give every mapping in a resource."""
    if isinstance(of, dict):
        yield of
    for each in of.values() if isinstance(of, dict) else of if isinstance(of, list) else ():
        yield from _within(each)
