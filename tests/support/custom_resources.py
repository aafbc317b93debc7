"""Resources of prometheus-operator and of KEDA, checked by TypeScript against models made of their CRDs.

The models come as npm packages (``npm/package.json``).
"""

import json
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.support.npm_packages import installed

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
_CHECK_SECONDS = 120.0


def complaints(resources: Iterable[Mapping[str, Any]]) -> str:
    """Say what is wrong with resources of these kinds: fields that are unknown, missing or of another type.

    Empty where nothing is; skips the test where there is no npm.
    """
    folder = installed(_PACKAGES, "custom resources are checked")
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
