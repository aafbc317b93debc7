"""The judges that the guide to a second opinion shows are asked, with their keys."""

import re
from pathlib import Path

import pytest

from streams.settings import load_settings

GUIDE = (Path(__file__).parents[3] / "docs" / "second-opinion.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```toml\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


def test_the_guide_shows_settings() -> None:
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize("example", EXAMPLES)
def test_judges_of_the_guide_can_be_asked(example: str, tmp_path: Path) -> None:
    file = tmp_path / "truthgate.toml"
    file.write_text(example, "utf-8")
    judges = load_settings(file).judges
    assert {name for link in judges.effective_chain for name in link.judges} == set(judges.endpoints)


def test_a_key_in_the_environment_is_that_of_an_endpoint_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (name,) = re.findall(r"TRUTHGATE_JUDGES__ENDPOINTS__\w+__API_KEY", GUIDE)
    monkeypatch.setenv(name, "sk-1")
    file = tmp_path / "truthgate.toml"
    file.write_text(EXAMPLES[1], "utf-8")
    key = load_settings(file).judges.endpoints["large"].api_key
    assert key is not None
    assert key.get_secret_value() == "sk-1"
