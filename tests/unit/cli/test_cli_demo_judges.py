"""The judges of a demo are those of a person's settings, with their keys."""

import json

from streams.cli.demo.demo_command import _variables
from streams.cli.entry import run
from streams.settings import DocumentSettings, JudgeSettings

ENDPOINT = {"base_url": "http://vllm:8000/v1", "model": "qwen", "api_key": "sk-1"}


def test_a_demo_asks_with_the_key_and_the_budget_that_are_set():
    judges = {
        "endpoints": {"small": ENDPOINT},
        "chain": [{"judges": ["small"], "method": "cot"}],
        "budget": {"requests_per_day": 9},
    }
    given = _variables({"judges": JudgeSettings.model_validate(judges)})
    variables = {name: json.loads(value) for name, value in given.items()}
    assert variables == {
        "TRUTHGATE_JUDGES__ENDPOINTS": {"small": ENDPOINT},
        "TRUTHGATE_JUDGES__CHAIN": [{"judges": ["small"], "method": "cot"}],
        "TRUTHGATE_JUDGES__BUDGET": {"requests_per_day": 9},
    }


def test_a_folder_is_named_as_it_is(tmp_path):
    named = _variables({"documents": DocumentSettings(store=tmp_path)})
    assert named == {"TRUTHGATE_DOCUMENTS__STORE": str(tmp_path)}


def test_a_demo_that_is_to_ask_and_is_told_nobody_is_wrong_usage(capsys):
    assert run(["demo", "--judges"]) == 2
    assert "no language model is configured" in capsys.readouterr().err
