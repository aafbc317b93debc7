"""The software bill of materials that `make sbom` writes: CycloneDX 1.6, with the hashes that are pinned."""

import subprocess
import sys
from pathlib import Path

from tests.support.audit import ROOT

_OPTIONS = (
    *("--pyproject", "pyproject.toml", "--mc-type", "application", "--spec-version", "1.6"),
    *("--output-format", "JSON", "--output-reproducible", "--validate"),
)


def write_bill(file: Path) -> None:
    """Write the bill of what comes to those who install truthgate or its image."""
    file.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-W", "ignore", "-m", "cyclonedx_py", "requirements", *_OPTIONS]
    command += ["--output-file", str(file.resolve()), "requirements/runtime.txt"]
    subprocess.run(command, check=True, cwd=ROOT, timeout=300)


if __name__ == "__main__":
    write_bill(Path(sys.argv[1]))
