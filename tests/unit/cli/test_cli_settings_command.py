"""The command tells which settings there are, which are in force, and what is wrong with them."""

import json
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.commands import truthgate_here


def test_settings_are_listed_with_type_default_and_meaning() -> None:
    done = truthgate_here("settings", "list", "web.port")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("web.port  (whole number, from 0 to 65535, 6066 unless set)\n    ")
    (line,) = truthgate_here("settings", "list", "web.port", "--json").stdout.splitlines()
    assert json.loads(line)["variable"] == "TRUTHGATE_WEB__PORT"


def test_a_sample_file_is_written_for_a_section_or_all() -> None:
    assert tomllib.loads(truthgate_here("settings", "list", "kafka", "--toml").stdout) == {"kafka": {}}
    assert len(tomllib.loads(truthgate_here("settings", "list", "--toml").stdout)) > 15


def test_what_is_in_force_is_shown_with_where_it_comes_from_and_without_secrets() -> None:
    environment = {"TRUTHGATE_KAFKA__TOPIC_PREFIX": "eu.", "TRUTHGATE_KAFKA__SASL_PASSWORD": "hunter2"}
    done = truthgate_here("settings", "show", "--given", environment=environment)
    assert done.stdout.splitlines() == [
        'kafka.sasl_password = "***"  (TRUTHGATE_KAFKA__SASL_PASSWORD)',
        'kafka.topic_prefix = "eu."  (TRUTHGATE_KAFKA__TOPIC_PREFIX)',
    ]
    lines = truthgate_here("settings", "show", "kafka", "--json", environment=environment).stdout.splitlines()
    told = {each["name"]: each for each in map(json.loads, lines)}
    prefix = {"name": "kafka.topic_prefix", "value": "eu.", "from": "TRUTHGATE_KAFKA__TOPIC_PREFIX"}
    assert told["kafka.topic_prefix"] == prefix
    assert told["kafka.sasl_username"]["value"] is None


@pytest.mark.parametrize("name", ["list", "show"])
def test_a_name_that_no_setting_has_is_told(name: str) -> None:
    done = truthgate_here("settings", name, "kakfa")
    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        "truthgate: no setting begins with 'kakfa'\n",
    )


def test_settings_that_a_worker_can_start_with_are_called_that_and_what_changes_nothing_is_told() -> None:
    done = truthgate_here("settings", "check", environment={"TRUTHGATE_TRANSLATION__MODE": "auto"})
    assert (done.returncode, done.stdout) == (0, "a worker can start with these settings\n")
    assert done.stderr == (
        "truthgate: warning: translation.mode has no effect: translation.provider is not set\n"
    )


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"TRUTHGATE_WEB__PORT": "abc"}, "TRUTHGATE_WEB__PORT: "),
        ({"TRUTHGATE_COMPANY_TERMS__FILE": "/nowhere.json"}, "company_terms.file: "),
        (
            {"TRUTHGATE_SCORING__VERIFIER__FOLDER": "/nowhere"},
            "scoring.verifier.folder: no verifier can be opened in /nowhere: model.onnx is missing",
        ),
        ({"TRUTHGATE_SCORING__VERIFIER__SECONDS": "0"}, "TRUTHGATE_SCORING__VERIFIER__SECONDS: "),
        (
            {"TRUTHGATE_KAFKA__SECURITY_PROTOCOL": "SSL", "TRUTHGATE_KAFKA__SSL_CAFILE": "/nowhere.pem"},
            "kafka.ssl_cafile /nowhere.pem cannot be used: No such file or directory",
        ),
    ],
)
def test_settings_that_no_worker_starts_with_are_one_line_and_exit_code_2(
    environment: dict[str, str], told: str
) -> None:
    done = truthgate_here("settings", "check", environment=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"truthgate: {told}")
    assert done.stderr.count("\n") == 1


def test_a_verifier_that_can_be_opened_is_none_of_what_is_wrong() -> None:
    tiny = Path(__file__).parents[1] / "scoring" / "verifier" / "tiny"
    done = truthgate_here("settings", "check", environment={"TRUTHGATE_SCORING__VERIFIER__FOLDER": str(tiny)})
    assert (done.returncode, done.stderr) == (0, "")


def test_packages_that_a_verifier_needs_and_are_missing_are_told_with_where_to_get_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    done = truthgate_here("settings", "check", environment={"TRUTHGATE_SCORING__VERIFIER__FOLDER": "/v"})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(
        "truthgate: scoring.verifier.folder: a verifier needs pip install 'truthgate[verifier]': "
    )
    assert "tokenizers" in done.stderr


def test_the_file_is_read_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "truthgate.toml"
    path.write_text('[log]\nlevel = "debug"\n')
    done = truthgate_here("settings", "show", "--given", "--config", path)
    assert done.stdout == f'log.level = "debug"  ({path})\n'
