"""Section judges: accepted and refused values, and the examples of the guide."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from streams.settings import EndpointSettings, InvalidSettings, JudgeSettings, Settings, load_settings

SECRET = "hunter2-hunter2"
SMALL = "TRUTHGATE_JUDGES__ENDPOINTS__SMALL__"
WHOLE = {"BASE_URL": "http://vllm/v1", "MODEL": "gpt-small"}


def test_nobody_is_asked_unless_named():
    assert Settings().judges == JudgeSettings(endpoints={})


def test_a_key_in_the_environment_joins_what_a_file_says(monkeypatch, tmp_path):
    config = tmp_path / "truthgate.toml"
    config.write_text('[judges.endpoints.small]\nbase_url = "http://vllm/v1"\nmodel = "gpt-small"\n', "utf-8")
    monkeypatch.setenv(f"{SMALL}API_KEY", SECRET)
    small = load_settings(config).judges.endpoints["small"]
    assert small.api_key
    assert small.api_key.get_secret_value() == SECRET
    assert small.model == "gpt-small"
    assert SECRET not in repr(load_settings(config))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"BASE_URL": "vllm:8000"}, "SMALL__BASE_URL: should be an http or https URL with a host"),
        ({"BASE_URL": ""}, "SMALL__BASE_URL: should be an http or https URL without user"),
        (
            {"BASE_URL": f"http://me:{SECRET}@vllm/v1"},
            "without user, query and fragment; set the key as api_key",
        ),
        ({"BASE_URL": f"http://vllm/v1?key={SECRET}"}, "without user, query and fragment"),
        ({"MODEL": ""}, "SMALL__MODEL: should not be empty"),
        ({"MODEL": "a\nb"}, "SMALL__MODEL: should be printable"),
        ({"API_KEY": f"{SECRET}\n"}, "SMALL__API_KEY: has a space, a line break"),
        ({"API_KEY": "sleutël"}, "SMALL__API_KEY: has a space, a line break"),
        ({"REQUEST_TIMEOUT_SECONDS": "0"}, "SMALL__REQUEST_TIMEOUT_SECONDS: "),
        ({"CONCURRENCY": "0"}, "SMALL__CONCURRENCY: "),
        ({"PRICES": "[1.5]"}, "prices.1: is missing"),
        ({"PRICES": "[-1, 1]"}, "prices.0: should be at least 0"),
        ({"MODLE": "x"}, "SMALL__MODLE is not a setting of truthgate"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line_without_its_secrets(monkeypatch, changes, complaint):
    for name, value in {**WHOLE, **changes}.items():
        monkeypatch.setenv(SMALL + name, value)
    with pytest.raises(InvalidSettings) as raised:
        load_settings()
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)
    assert SECRET not in str(raised.value)


def test_an_endpoint_without_a_model_is_refused(monkeypatch):
    monkeypatch.setenv(f"{SMALL}BASE_URL", "http://vllm/v1")
    with pytest.raises(InvalidSettings, match=r"^judges\.endpoints\.small\.model: is missing$"):
        load_settings()


@pytest.mark.parametrize("name", ["Small", "a b", "", "-", "a__b", "x" * 41, "é"])
def test_a_name_is_one_that_variables_and_labels_can_hold(name):
    with pytest.raises(ValidationError):
        JudgeSettings.model_validate({"endpoints": {name: _lower(WHOLE)}})


def test_an_empty_key_is_none():
    assert EndpointSettings.model_validate({**_lower(WHOLE), "api_key": ""}).api_key is None


def test_tokens_cost_by_the_million_and_nothing_is_known_without_prices():
    priced = EndpointSettings.model_validate({**_lower(WHOLE), "prices": [2, 8]})
    assert priced.cost(500_000, 250_000) == pytest.approx(3)
    assert EndpointSettings.model_validate(_lower(WHOLE)).cost(1, 1) is None


def _lower(values: dict[str, Any]) -> dict[str, Any]:
    return {name.lower(): value for name, value in values.items()}


def _with_examples(folder: Path, examples: Path) -> Path:
    config = folder / "truthgate.toml"
    config.write_text(
        '[judges.endpoints.small]\nbase_url = "http://vllm/v1"\nmodel = "gpt-small"\n'
        f'[[judges.chain]]\njudges = ["small"]\nexamples = "{examples}"\n',
        "utf-8",
    )
    return config


def test_a_chain_shows_the_examples_of_a_file(tmp_path):
    examples = tmp_path / "examples.jsonl"
    examples.write_text(
        '{"question": "q", "reference": "r", "answer": "a", "label": "FALSE", "score": 1}\n', "utf-8"
    )
    (link,) = load_settings(_with_examples(tmp_path, examples)).judges.effective_chain
    assert [each.label for each in link.options.examples] == ["FALSE"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "cannot be read: No such file"),
        (b"\xff", "is not UTF-8"),
        (b'{"question": "hunter2-hunter2"}', "line 1: reference: Field required"),
    ],
)
def test_examples_that_cannot_be_shown_are_refused_in_one_line_that_quotes_none(tmp_path, content, complaint):
    examples = tmp_path / "examples.jsonl"
    if content is not None:
        examples.write_bytes(content)
    with pytest.raises(InvalidSettings) as raised:
        load_settings(_with_examples(tmp_path, examples))
    assert f"judges.chain.0: examples: {examples}" in str(raised.value)
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)
    assert SECRET not in str(raised.value)


GUIDE = (Path(__file__).parents[3] / "docs" / "second-opinion.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```toml\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


def test_the_guide_shows_settings():
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize("example", EXAMPLES)
def test_judges_of_the_guide_can_be_asked(example, tmp_path):
    file = tmp_path / "truthgate.toml"
    file.write_text(example, "utf-8")
    judges = load_settings(file).judges
    assert {name for link in judges.effective_chain for name in link.judges} == set(judges.endpoints)


def test_a_key_in_the_environment_is_that_of_an_endpoint_in_the_file(tmp_path, monkeypatch):
    (name,) = re.findall(r"TRUTHGATE_JUDGES__ENDPOINTS__\w+__API_KEY", GUIDE)
    monkeypatch.setenv(name, "sk-1")
    file = tmp_path / "truthgate.toml"
    file.write_text(EXAMPLES[1], "utf-8")
    key = load_settings(file).judges.endpoints["large"].api_key
    assert key is not None
    assert key.get_secret_value() == "sk-1"
