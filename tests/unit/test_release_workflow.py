"""The workflow that publishes a release: valid, with few rights; what needs no registry of it runs here."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from docs.generate.site.site_pages import ROOT
from tests.support.checkout import linked_checkout
from tests.support.kubernetes_tools import kubernetes_tool

WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
TEXT = WORKFLOW.read_text("utf-8")
READ: dict[str, Any] = yaml.safe_load(TEXT)
STEPS: list[dict[str, Any]] = READ["jobs"]["publish"]["steps"]
CHECK = "Check that the tag, wheel, image, chart and changelog agree on the version"
#: Run here, in their order; the build tools are installed with everything else.
LOCAL = (CHECK, "Build the wheel", "Package the chart", "Write the release notes")
_SECONDS = 120


def _step(name: str) -> dict[str, Any]:
    (step,) = (each for each in STEPS if each.get("name") == name)
    return step


def _position(text: str) -> int:
    """Give the place of the one step that has a text in it."""
    (position,) = (number for number, each in enumerate(STEPS) if text in json.dumps(each))
    return position


def test_the_workflow_is_one():
    package = distribution("check-jsonschema")
    schema = Path(package.locate_file("check_jsonschema/builtin_schemas/vendor/github-workflows.json"))
    # A key `on` is true in YAML 1.1, and "on" in GitHub's.
    read = {"on" if key is True else key: value for key, value in READ.items()}
    validator = jsonschema.Draft7Validator(json.loads(schema.read_text("utf-8")))
    assert list(validator.iter_errors(read)) == []
    assert list(validator.iter_errors({**read, "job": {}})) != []


def test_it_runs_for_a_tag_alone_and_after_all_tests():
    assert READ[True] == {"push": {"tags": ["v*"]}}
    assert READ["jobs"]["publish"]["needs"] == "test"
    assert READ["jobs"]["test"]["steps"][-1]["run"] == ".ci/run"


def test_no_job_may_do_more_than_it_needs():
    assert READ["permissions"] == {}
    assert READ["jobs"]["test"]["permissions"] == {"contents": "read"}
    assert "secrets." not in TEXT
    for each in STEPS:
        assert "${{" not in each.get("run", ""), "what an event says is no part of a script"


def test_every_action_is_named_by_its_commit():
    used = re.findall(r"uses: (.+)", TEXT)
    assert len(used) >= 6
    for each in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", each)


def test_what_is_published_has_its_provenance_and_a_signature():
    signed = _step("Sign the wheel, the image and the chart")["run"]
    for signature in ('cosign sign-blob --yes --bundle "dist/', '"$IMAGE@$', '"$CHARTS/truthgate@$'):
        assert signature in signed
    attested = [each["with"] for each in STEPS if each.get("uses", "").startswith("actions/attest@")]
    subjects = [each.get("subject-path") or each["subject-name"] for each in attested]
    assert subjects == ["dist/wheel/*.whl", "${{ env.IMAGE }}", "${{ env.CHARTS }}/truthgate"]
    assert (
        _position("cosign sign --yes") < _position("gh-action-pypi-publish") < _position("gh release create")
    )


def test_every_step_is_run_here_or_needs_a_registry():
    remote = ("docker ", "helm push", "helm registry", "cosign ", "gh release", 'pip\\" install')
    for each in STEPS:
        local = each.get("name") in LOCAL
        assert local != ("uses" in each or any(text in json.dumps(each["run"]) for text in remote)), each


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Make a checkout whose changelog has the date of the release."""
    folder = linked_checkout(tmp_path / "checkout")
    changelog = folder / "CHANGELOG.md"
    text = changelog.read_text("utf-8")
    changelog.unlink()
    changelog.write_text(text.replace("## 0.1.0 (unreleased)", "## 0.1.0 (2026-12-01)"), "utf-8")
    return folder


def _run(name: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a step as a runner does, with this interpreter's tools and helm."""
    bash = shutil.which("bash")
    assert bash
    return subprocess.run(
        [bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", _step(name)["run"]],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{kubernetes_tool('helm').parent}:{os.environ['PATH']}",
            "GITHUB_ENV": str(folder / "env"),
            "GITHUB_REPOSITORY_OWNER": "Example",
            "GITHUB_REF_NAME": "v0.1.0",
            **variables,
        },
    )


def test_wheel_chart_and_notes_are_built_as_the_workflow_does(checkout):
    variables: dict[str, str] = {}
    for name in LOCAL:
        done = _run(name, checkout, **variables)
        assert done.returncode == 0, f"{name}: {done.stderr}"
        variables = dict(line.split("=", 1) for line in (checkout / "env").read_text("utf-8").splitlines())
    registry = "ghcr.io/example"
    assert variables == {
        "VERSION": "0.1.0",
        "IMAGE": f"{registry}/truthgate",
        "CHARTS": f"{registry}/charts",
    }
    made = {str(path.relative_to(checkout / "dist")) for path in (checkout / "dist").rglob("*.*")}
    assert made == {"wheel/truthgate-0.1.0-py3-none-any.whl", "chart/truthgate-0.1.0.tgz", "notes.md"}
    assert "The first release." in (checkout / "dist" / "notes.md").read_text("utf-8")


@pytest.mark.parametrize("tag", ["v0.1.1", "v0", "v0.1.0-rc1"])
def test_a_tag_of_another_version_is_refused(tag, checkout):
    assert _run(CHECK, checkout, GITHUB_REF_NAME=tag).returncode != 0


def test_a_version_without_a_date_in_the_changelog_is_refused(tmp_path):
    """As long as this one is to come."""
    assert "(unreleased)" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert _run(CHECK, linked_checkout(tmp_path / "checkout")).returncode != 0
