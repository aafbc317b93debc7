"""The reference of the settings and the sample file have what the settings themselves have."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from docs.generate.reference.settings_page import PAGE, render
from streams.settings import Settings, load_settings
from streams.settings.effective_settings import effective_settings
from streams.settings.sample_file import sample
from streams.settings.setting_catalog import ANY_ENTRY, ANY_KEY, Setting, all_settings

ALL = tuple(all_settings())
SECRETS = [each for each in ALL if "secret" in each.type]


def _named(name: str) -> Setting:
    (found,) = (setting for setting in ALL if setting.name == name)
    return found


def test_the_page_is_what_the_model_says():
    assert PAGE.read_text(encoding="utf-8") == render(ALL), "run `python -m docs.generate`"


def test_every_setting_in_force_is_described_once_and_no_other_is():
    names = [setting.name for setting in ALL]
    assert len(set(names)) == len(names)
    whole = {name for name in names if ANY_ENTRY not in name and ANY_KEY not in name}
    assert {each.name for each in effective_settings()} == whole


def test_every_setting_says_in_words_what_it_is_for():
    assert [setting.name for setting in ALL if len(setting.description) < 5 or setting.type == "table"] == []
    assert [setting.name for setting in ALL if "None" in setting.type or "<" in setting.type] == []


@pytest.mark.parametrize(
    ("name", "kind", "default", "variable"),
    [
        ("web.port", "whole number, from 0 to 65535", "6066", "TRUTHGATE_WEB__PORT"),
        ("objectives.judged", "number, above 0 below 1", "0.999", "TRUTHGATE_OBJECTIVES__JUDGED"),
        ("kafka.sasl_password", "secret", None, "TRUTHGATE_KAFKA__SASL_PASSWORD"),
        ("documents.store", "path", None, "TRUTHGATE_DOCUMENTS__STORE"),
        ("log.format", "auto or json or console", '"auto"', "TRUTHGATE_LOG__FORMAT"),
        ("policy.auto_send_at", "number", "5.0", "TRUTHGATE_POLICY__AUTO_SEND_AT"),
        ("policy.overrides", "list of tables", "[]", "TRUTHGATE_POLICY__OVERRIDES"),
        ("rates.windows[].size_seconds", "whole number, from 1 to 86400", None, None),
        ("telemetry.otlp_headers", "table of secrets", "{}", "TRUTHGATE_TELEMETRY__OTLP_HEADERS"),
    ],
)
def test_type_default_and_variable_are_those_of_the_model(name, kind, default, variable):
    found = _named(name)
    assert (found.type, found.default, found.variable) == (kind, default, variable)


def test_the_sample_file_changes_nothing(tmp_path):
    path = tmp_path / "truthgate.toml"
    path.write_text(sample(ALL), encoding="utf-8")
    assert load_settings(path) == Settings()


def test_the_sample_file_with_its_marks_taken_away_is_what_is_shipped(tmp_path):
    text = re.sub(r"^#\w+ = .+  # unset$", "", sample(ALL), flags=re.MULTILINE)
    text = re.sub(r"^#(\w+ = .+)$", r"\1", text, flags=re.MULTILINE)
    # Entries of lists and tables of one's own choice have no defaults of their own.
    own = re.compile(r"^#\[.*?(?=^\[|^#\[|\Z)", re.MULTILINE | re.DOTALL)
    while own.search(text):
        text = own.sub("", text, count=1)
    assert text.count("\n[") > 15
    path = tmp_path / "truthgate.toml"
    path.write_text(text, encoding="utf-8")
    assert tomllib.loads(text)["rates"]["windows"][1] == {"size_seconds": 300, "hop_seconds": 60}
    assert load_settings(path) == Settings()


def _uncommented(text: str) -> str:
    return re.sub(r"^#(?! )", "", text, flags=re.MULTILINE)


def test_the_sample_file_with_every_mark_taken_away_is_toml_with_every_setting():
    tables = tomllib.loads(_uncommented(sample(ALL)))
    assert set(tables["judges"]["endpoints"]["name"]) > {"base_url", "model", "api_key"}
    assert set(tables["judges"]["chain"][0]) > {"method", "judges"}
    assert tables["kafka"]["sasl_password"] == ""
    lacking = []
    for setting in ALL:
        value: Any = tables
        for part in setting.name.replace(ANY_KEY, "name").replace(ANY_ENTRY, ".[]").split("."):
            value = value[0] if part == "[]" else value.get(part)
        if value is None:
            lacking.append(setting.name)
    assert [name for name in lacking if not name.startswith("alerts.thresholds[]")] == []


def test_each_line_and_table_of_the_sample_file_alone_is_toml():
    text = sample(ALL)
    for block in text.split("\n\n"):
        tomllib.loads(text.replace(block, _uncommented(block)))
    lines = text.splitlines()
    for number, line in enumerate(lines):
        tomllib.loads("\n".join([*lines[:number], _uncommented(line), *lines[number + 1 :]]))


def _secrets_set(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Set every secret there is, each to another value, and everything that may hold one."""
    plain: dict[str, Any] = {
        "TRUTHGATE_JUDGES__ENDPOINTS__SMALL__BASE_URL": "http://vllm/v1",
        "TRUTHGATE_JUDGES__ENDPOINTS__SMALL__MODEL": "m",
        "TRUTHGATE_KAFKA__SECURITY_PROTOCOL": "SASL_SSL",
        "TRUTHGATE_KAFKA__SASL_USERNAME": "gate",
        "TRUTHGATE_KAFKA__SSL_CERTFILE": "/crt",
        "TRUTHGATE_KAFKA__SSL_KEYFILE": "/key",
        "TRUTHGATE_ENCODING__SCHEMA_REGISTRY_URL": "https://user:hunter2-url@registry/?key=hunter2-query",
    }
    for number, setting in enumerate(SECRETS):
        variable = (setting.variable or "").replace("<NAME>", "SMALL")
        value = f"hunter2-hunter2-{number}"
        plain[variable] = f'{{"authorization": "{value}"}}' if "table" in setting.type else value
    for variable, value in plain.items():
        monkeypatch.setenv(variable, value)
        yield variable


def test_no_secret_is_ever_shown(monkeypatch):
    assert len(SECRETS) >= 5
    variables = set(_secrets_set(monkeypatch))
    message = effective_settings()
    assert not [each for each in message if "hunter2" in each.value]
    assert {each.origin for each in message} == {*variables, "default"}
    assert {each.value for each in message if each.name == "encoding.schema_registry_url"} == {
        '"https://***@registry/?***"'
    }


def test_a_secret_from_a_file_is_reported_with_the_variable_that_names_it(monkeypatch, tmp_path):
    (tmp_path / "password").write_text("hunter2")
    monkeypatch.setenv("TRUTHGATE_KAFKA__SASL_PASSWORD_FILE", str(tmp_path / "password"))
    (message,) = (each for each in effective_settings() if each.name == "kafka.sasl_password")
    assert (message.value, message.origin) == ('"***"', "TRUTHGATE_KAFKA__SASL_PASSWORD_FILE")


def test_each_setting_is_reported_with_the_variable_or_file_that_it_comes_from(monkeypatch, tmp_path):
    path = tmp_path / "truthgate.toml"
    path.write_text('[web]\nport = 7000\nhost = "::1"\n[policy]\npause = true\n', encoding="utf-8")
    monkeypatch.setenv("TRUTHGATE_WEB__PORT", "7001")
    monkeypatch.setenv("TRUTHGATE_FLOW", '{"max_in_flight": 9}')
    monkeypatch.setenv("TRUTHGATE_POLICY__ASK", '["middle_score"]')
    message = {each.name: (each.value, each.origin) for each in effective_settings(path)}
    assert message["web.port"] == ("7001", "TRUTHGATE_WEB__PORT")
    assert message["web.host"] == ('"::1"', str(path))
    assert message["policy.pause"] == ("true", str(path))
    assert message["policy.ask"] == ('["middle_score"]', "TRUTHGATE_POLICY__ASK")
    assert message["flow.max_in_flight"] == ("9", "TRUTHGATE_FLOW")
    assert message["flow.session_timeout_seconds"] == ("45", "default")
    assert message["kafka.sasl_username"] == ("null", "default")
