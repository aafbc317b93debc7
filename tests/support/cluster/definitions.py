"""The definitions of the custom resources that the chart makes, out of the Go modules of who defines them."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

_SECONDS = 120.0
_TOPICS = Path(__file__).with_name("kafkatopic.yaml")


@dataclass(frozen=True, slots=True)
class _Source:
    module: str
    digest: str
    """As Go counts it, of all files of the module."""
    files: Sequence[str]


_OPERATOR = "example/prometheus-operator-crd/monitoring.coreos.com_{}.yaml"
_SOURCES = (
    _Source(
        "github.com/prometheus-operator/prometheus-operator@v0.85.0",
        "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
        [_OPERATOR.format(each) for each in ("servicemonitors", "podmonitors", "prometheusrules")],
    ),
    _Source(
        "github.com/kedacore/keda/v2@v2.18.1",
        "h1:h6bRt/IOxxtZpJlHSqhdH/lcInH7Z9obxg/JvWOmGAw=",
        [f"config/crd/bases/keda.sh_{each}.yaml" for each in ("scaledobjects", "triggerauthentications")],
    ),
)


def definitions() -> list[Path]:
    """Give the files of the definitions, which Go fetches the first time; skips without Go.

    AssertionError where they cannot be fetched or are not those that are meant.
    """
    if not (go := shutil.which("go")):
        pytest.skip("the definitions of custom resources are in Go modules, and go is not on PATH")
    fetched = {_fetched(go, source): source.files for source in _SOURCES}
    return [_TOPICS, *(folder / file for folder, files in fetched.items() for file in files)]


def _fetched(go: str, source: _Source) -> Path:
    done = subprocess.run(
        [go, "mod", "download", "-json", source.module],
        cwd="/",  # of no module
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{source.module}: {done.stdout[-1000:]}{done.stderr[-1000:]}"
    found = json.loads(done.stdout)
    assert found["Sum"] == source.digest, f"{source.module} is another one than was meant: {found['Sum']}"
    return Path(found["Dir"])
