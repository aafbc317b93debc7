"""The software bill of materials that `make sbom` writes: CycloneDX 1.6, with the hashes that are pinned."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

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
    content = json.loads(file.read_text("utf-8"))
    content["components"].append(_htmx())
    file.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def _htmx() -> dict[str, Any]:
    """Return the component that is in the wheel itself: scripts of the review desk, with their hashes."""
    version = json.loads((ROOT / "tests/support/npm_pages/package.json").read_text("utf-8"))["dependencies"][
        "htmx.org"
    ]
    sums = (ROOT / "streams/desk/assets/SHA256SUMS").read_text("utf-8")
    return {
        "type": "library",
        "bom-ref": f"htmx.org@{version}",
        "name": "htmx.org",
        "version": version,
        "purl": f"pkg:npm/htmx.org@{version}",
        "licenses": [{"license": {"id": "0BSD"}}],
        "components": [
            {"type": "file", "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]}
            for digest, name in map(str.split, sums.splitlines())
        ],
    }


if __name__ == "__main__":
    write_bill(Path(sys.argv[1]))
