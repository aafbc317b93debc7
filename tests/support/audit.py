"""The audit of what is pinned for known weaknesses, which `make audit` runs.

Exit code 1 when a weakness is known. Where the service that knows them cannot be reached it says that nothing
was audited, with exit code 0, as tests say it of a tool that is missing.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
#: What comes to those who install truthgate or its image; what developers use besides does not.
PINNED = (ROOT / "requirements" / "runtime.txt", ROOT / "requirements" / "build.txt")
_SECONDS = 600


class NotAudited(Exception):
    """Nothing could be learnt; the message says why in one line."""


def weaknesses(pinned: Sequence[Path] = PINNED, advisories: str | None = None) -> list[str]:
    """Give a line for every known weakness of what is pinned.

    Args:
        pinned: files of requirements with hashes.
        advisories: where Open Source Vulnerabilities is asked; None for its own service, which has the
            advisories of the Python Packaging Authority and of GitHub.

    Raises:
        NotAudited: the advisories cannot be read, or say nothing of a package that is pinned.
    """
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes", "--format", "json"]
    command += ["--progress-spinner", "off", "--vulnerability-service", "osv"]
    command += ["--osv-url", advisories] if advisories else []
    command += [part for file in pinned for part in ("--requirement", str(file))]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=_SECONDS)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except ValueError:
        raise NotAudited((done.stderr.strip().splitlines() or ["nothing was said"])[-1]) from None
    if skipped := [each["name"] for each in found if "vulns" not in each]:
        raise NotAudited(f"nothing is known of {', '.join(skipped)}")
    return [_line(each, known) for each in found for known in each["vulns"]]


def _line(package: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    mended = ", ".join(known["fix_versions"]) or "no version yet"
    return f"{package['name']} {package['version']}: {known['id']}, mended in {mended}"


def main() -> int:
    """Audit and say what was found."""
    try:
        found = weaknesses()
    except NotAudited as reason:
        sys.stdout.write(f"not audited: {reason}\n")
        return 0
    sys.stdout.write("".join(f"{line}\n" for line in [*found, f"{len(found)} known weaknesses"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
