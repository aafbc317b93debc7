"""The composition for a laptop is what Compose takes, and says nothing that the project does not know.

It is started nowhere in the tests: its images come from registries.
"""

import json
import os
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from streams.kafka.topics import Topics
from streams.settings import Settings, load_settings
from tests.support.charts import CHART
from tests.support.commands import truthgate_here
from tests.support.own_patterns import ROOT

PREFIX = "TRUTHGATE_"
FILE = ROOT / "docs" / "examples" / "docker-compose.yml"
COMPOSITION: dict[str, Any] = yaml.safe_load(FILE.read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSITION["services"]
OWN = {name: service for name, service in SERVICES.items() if service["image"] == "truthgate"}


def content(config: str) -> dict[str, Any]:
    found = yaml.safe_load(COMPOSITION["configs"][config]["content"])
    assert isinstance(found, dict)
    return found


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Read the worker's settings as its container would."""
    for name in [name for name in os.environ if name.upper().startswith(PREFIX)]:
        monkeypatch.delenv(name)
    for name, value in SERVICES["worker"]["environment"].items():
        monkeypatch.setenv(name, value)
    return load_settings()


def test_it_is_what_the_specification_of_compose_allows():
    packaged = "check_jsonschema/builtin_schemas/vendor/compose-spec.json"
    schema = json.loads(Path(distribution("check-jsonschema").locate_file(packaged)).read_text("utf-8"))
    validator = Draft7Validator(schema)
    assert list(validator.iter_errors({**COMPOSITION, "servces": {}}))  # it does look
    assert [error.message for error in validator.iter_errors(COMPOSITION)] == []


def test_all_parts_are_there():
    assert SERVICES.keys() >= {"kafka", "worker", "libretranslate", "prometheus", "grafana"}
    assert OWN.keys() == {"topics", "worker", "monitoring"}


def test_every_setting_is_one_of_ours_and_leads_to_the_other_parts(settings):
    assert {name for name in SERVICES["worker"]["environment"] if not name.startswith(PREFIX)} == set()
    host, _, port = settings.kafka.bootstrap_servers.partition(":")
    assert f"://{host}:{port}," in SERVICES[host]["environment"]["KAFKA_ADVERTISED_LISTENERS"]
    assert settings.translation.base_url == "http://libretranslate:5000"
    assert settings.translation.provider in SERVICES
    assert [service["environment"] for service in OWN.values()] == [SERVICES["worker"]["environment"]] * 3


def test_the_topics_are_made_with_the_same_settings_before_the_worker_starts(settings):
    assert SERVICES["topics"]["command"] == ["topics", "create"]
    assert truthgate_here("topics", "create", "--help").returncode == 0
    assert SERVICES["worker"]["depends_on"] == {"topics": {"condition": "service_completed_successfully"}}
    assert Topics(settings.kafka.topic_prefix).answers == "answers"  # what others on the laptop write to


def test_libretranslate_is_the_one_of_the_chart():
    chart = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))["libretranslate"]["image"]
    image = f"{chart['repository']}:{chart['tag']}"
    assert image == SERVICES["libretranslate"]["image"]


def test_own_containers_have_no_rights_and_write_to_their_volume_alone():
    for service in OWN.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert all(volume.endswith(":/var/lib/truthgate") for volume in service.get("volumes", []))


def test_rules_and_dashboard_are_written_where_they_are_read(tmp_path):
    (command,) = SERVICES["monitoring"]["command"]
    variables = SERVICES["monitoring"]["environment"]
    for part in command.split(" && "):
        asked, _, file = part.partition(" > ")
        done = truthgate_here(*asked.split()[1:], environment=variables)
        assert done.returncode == 0
        (tmp_path / file).write_text(done.stdout)
    rules = content("prometheus")["rule_files"]
    home = SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert [Path(path).name for path in (*rules, home)] == [
        path.name for path in sorted(tmp_path.iterdir())[::-1]
    ]
    assert yaml.safe_load((tmp_path / "truthgate.yml").read_text())["groups"]
    assert json.loads((tmp_path / "truthgate.json").read_text())["panels"]
    (provider,) = content("dashboards")["providers"]
    for reader in ("prometheus", "grafana"):
        assert "monitoring:/etc/truthgate:ro" in SERVICES[reader]["volumes"]
        assert all(str(Path(path).parent) == "/etc/truthgate" for path in (*rules, home))
    assert provider["options"]["path"] == "/etc/truthgate"


def test_prometheus_scrapes_the_worker_under_the_name_that_the_rules_have(settings):
    (job,) = content("prometheus")["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"worker:{settings.web.port}"]}]
    assert f'job="{job["job_name"]}"' in truthgate_here("monitoring", "rules").stdout
    (source,) = content("datasources")["datasources"]
    assert source["url"] == "http://prometheus:9090"


def test_images_are_pinned_and_nothing_is_open_to_others_than_this_machine():
    for name, service in SERVICES.items():
        assert name in OWN or service["image"].rpartition(":")[2][-1].isdigit()
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


def test_what_is_mounted_or_built_from_is_there():
    (build,) = {service["build"] for service in OWN.values()}
    assert (FILE.parent / build / "Dockerfile").is_file()
    mounted = {volume.partition(":")[0] for s in SERVICES.values() for volume in s.get("volumes", [])}
    assert mounted == COMPOSITION["volumes"].keys()  # no file of the repository, which could go amiss
    used = {config["source"] for s in SERVICES.values() for config in s.get("configs", [])}
    assert used == COMPOSITION["configs"].keys()
