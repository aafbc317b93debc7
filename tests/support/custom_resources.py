"""Resources of prometheus-operator and of KEDA, checked by TypeScript against models made of their CRDs.

The models come as npm packages (``npm/package.json``, each with its hash in the lock), fetched once by the
npm of this machine into the user's cache; where there is none, a test that asks is skipped in one line.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from platformdirs import user_cache_path

from tests.support.locks import locked

#: The packages and their folders, by API and kind.
MODELS: Mapping[tuple[str, str], str] = {
    ("monitoring.coreos.com/v1", "PodMonitor"): "prometheus-operator",
    ("monitoring.coreos.com/v1", "PrometheusRule"): "prometheus-operator",
    ("monitoring.coreos.com/v1", "ServiceMonitor"): "prometheus-operator",
    ("keda.sh/v1alpha1", "ScaledObject"): "keda",
    ("keda.sh/v1alpha1", "TriggerAuthentication"): "keda",
}

_PACKAGES = Path(__file__).with_name("npm")
_TSC = ("--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--moduleResolution", "nodenext")
_LOCK_SECONDS = 240.0
_INSTALL_SECONDS = 200.0
_CHECK_SECONDS = 120.0


def complaints(resources: Iterable[Mapping[str, Any]]) -> str:
    """Say what is wrong with resources of these kinds: fields that are unknown, missing or of another type.

    Empty where nothing is; skips the test where there is no npm.
    """
    folder = _installed()
    lines = [line for number, each in enumerate(resources) for line in _typed(number, each)]
    # Beside the packages, so that they are found.
    with tempfile.TemporaryDirectory(dir=folder) as work:
        program = Path(work) / "resources.ts"
        program.write_text("\n".join(lines), "utf-8")
        compiler = folder / "node_modules" / "typescript" / "bin" / "tsc"
        done = subprocess.run(
            ["node", compiler, *_TSC, program],
            cwd=work,
            capture_output=True,
            text=True,
            timeout=_CHECK_SECONDS,
            check=False,
        )
    assert not done.stderr, done.stderr
    assert (done.returncode == 0) == (not done.stdout), f"the compiler ended with {done.returncode}"
    return done.stdout


def _typed(number: int, resource: Mapping[str, Any]) -> tuple[str, str]:
    api, kind = resource["apiVersion"], resource["kind"]
    module = f"@kubernetes-models/{MODELS[api, kind]}/{api}/{kind}"
    return (
        f'import type {{ I{kind} as Kind{number} }} from "{module}";',
        f"export const resource{number}: Kind{number} = {json.dumps(resource)};",
    )


def _installed() -> Path:
    if missing := [tool for tool in ("node", "npm") if not shutil.which(tool)]:
        pytest.skip(f"custom resources are checked with {' and '.join(missing)}, which are not on PATH")
    lock = hashlib.sha256((_PACKAGES / "package-lock.json").read_bytes()).hexdigest()[:16]
    folder = user_cache_path("truthgate") / "npm" / lock
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.parent / f"{lock}.lock", _LOCK_SECONDS):
            if not folder.exists():
                _install(folder)
    return folder


def _install(folder: Path) -> None:
    """Make the folder, which is there whole or not at all."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        made = Path(work) / "packages"
        shutil.copytree(_PACKAGES, made)
        done = subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=made,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_INSTALL_SECONDS,
            check=False,
        )
        if done.returncode:
            pytest.fail(f"npm cannot fetch the models: {done.stdout.decode(errors='replace')[-500:]}")
        made.rename(folder)
