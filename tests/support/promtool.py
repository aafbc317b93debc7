"""Rules under promtool: the course of some series, and which alerts fire when."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.debian import debian_tool

_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Fires:
    """Which rules of an alert fire at a minute: the labels that tell them apart, none where it is silent."""

    minute: int
    alert: str
    label: str = "severity"
    values: tuple[str, ...] = ()


def check(rules: Path) -> str:
    """Let promtool read a file of rules and return what it says; fails where it finds fault."""
    return _promtool("check", "rules", "--lint=all", "--lint-fatal", str(rules))


def play(rules: Path, series: Mapping[str, str], expected: Sequence[Fires], **more: Any) -> str:
    """Play series with a value a minute, in promtool's notation, and compare the alerts that fire."""
    script = {
        "rule_files": [str(rules)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "promql_expr_test": [_question(fires) for fires in expected],
                **more,
            }
        ],
    }
    written = rules.with_suffix(".test.yml")
    written.write_text(json.dumps(script), "utf-8")  # which is YAML too
    return _promtool("test", "rules", str(written))


def _question(fires: Fires) -> dict[str, Any]:
    firing = f'ALERTS{{alertname="{fires.alert}", alertstate="firing"}}'
    samples = [{"labels": f'{{{fires.label}="{value}"}}', "value": 1} for value in fires.values]
    return {
        "expr": f"max by ({fires.label}) ({firing})",
        "eval_time": f"{fires.minute}m",
        "exp_samples": samples,
    }


def _promtool(*arguments: str) -> str:
    done = subprocess.run(
        [debian_tool("promtool"), *arguments], capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said
