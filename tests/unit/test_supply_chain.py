"""What truthgate is made of is written down as others read it, and looked up among known weaknesses."""

import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement

from tests.support.audit import PINNED, ROOT, NotAudited, weaknesses
from tests.support.bill import write_bill
from tests.support.local_http import QuietHandler, served
from tests.support.ports import NOBODY

RUNTIME = ROOT / "requirements" / "runtime.txt"


@pytest.fixture(scope="module")
def bill(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the bill of materials as `make sbom` does."""
    file = tmp_path_factory.mktemp("sbom") / "truthgate.cdx.json"
    write_bill(file)
    return file


def pinned(file: Path) -> dict[str, set[str]]:
    """Read requirements with their hashes, by name and version."""
    found: dict[str, set[str]] = {}
    for entry in re.split(r"\n(?=\S)", file.read_text("utf-8")):
        if entry and not entry.startswith("#"):
            requirement = Requirement(entry.split("\\\n")[0].strip())
            (exactly,) = requirement.specifier
            found[f"{requirement.name} {exactly.version}"] = set(re.findall(r"sha256:([0-9a-f]{64})", entry))
    return found


def test_the_bill_of_materials_is_valid(bill):
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(bill.read_text("utf-8")) is None
    assert validator.validate_str('{"bomFormat": "CycloneDX", "specVersion": "1.6", "parts": 1}') is not None


def test_the_bill_names_truthgate_and_all_that_is_pinned_with_their_hashes(bill):
    read = json.loads(bill.read_text("utf-8"))
    htmx = read["components"].pop()
    assert (htmx["name"], htmx["purl"]) == ("htmx.org", f"pkg:npm/htmx.org@{htmx['version']}")
    assert f'version="{htmx["version"]}"' in (ROOT / "streams/desk/assets/htmx.min.js").read_text("utf-8")
    own = read["metadata"]["component"]
    assert (own["name"], own["version"], own["type"]) == ("truthgate", version("truthgate"), "application")
    assert own["licenses"] == [{"license": {"acknowledgement": "declared", "id": "Apache-2.0"}}]
    listed = {
        f"{each['name']} {each['version']}": {
            digest["content"] for place in each["externalReferences"] for digest in place["hashes"]
        }
        for each in read["components"]
    }
    assert listed == pinned(RUNTIME)
    assert len(listed) > 100
    assert all(each["purl"].startswith("pkg:pypi/") for each in read["components"])


class _Advisories(QuietHandler):
    """A service of advisories that knows of one weakness of one package."""

    def do_POST(self) -> None:
        asked = json.loads(self.read_body())
        known: dict[str, Any] = {"vulns": [_KNOWN]} if asked["package"]["name"] == "aiohttp" else {}
        self.respond(json.dumps(known).encode())


_KNOWN = {
    "id": "PYSEC-2026-1",
    "details": "a weakness",
    "published": "2026-01-01T00:00:00Z",
    "affected": [
        {
            "package": {"name": "aiohttp", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "999"}]}],
        }
    ],
}


@pytest.fixture
def advisories() -> Iterator[str]:
    """Serve advisories on the loopback interface."""
    with served(_Advisories) as address:
        yield f"{address}/v1/query"


def test_a_known_weakness_is_told_with_where_it_is_mended(advisories):
    (found,) = weaknesses(PINNED, advisories)
    assert re.fullmatch(r"aiohttp [\d.]+: PYSEC-2026-1, mended in 999", found)


def test_where_nobody_can_be_asked_nothing_counts_as_audited():
    with pytest.raises(NotAudited, match="refused"):
        weaknesses(PINNED[1:], f"http://{NOBODY}/v1/query")
