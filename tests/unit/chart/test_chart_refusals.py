"""Wrong values of the chart: helm refuses them, and says which and why."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.charts import refusal

WRONG: Mapping[str, Mapping[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("wrong_values.yaml").read_text("utf-8")
)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_values_are_refused_with_the_reason(name: str) -> None:
    assert WRONG[name]["told"] in refusal(WRONG[name]["values"])
