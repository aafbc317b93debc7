"""The demo with a real language model as its judge: asked within its budget, and over by itself."""

import subprocess
import sys

import pytest

from tests.support.commands import clean_environment, truthgate
from tests.support.small_model import MODEL

DEADLINE_SECONDS = 1_800.0


@pytest.mark.timeout(DEADLINE_SECONDS)
def test_the_demo_asks_a_real_model_about_answers_in_doubt_and_ends_by_itself(tmp_path):
    demo = subprocess.run(
        [sys.executable, "-m", "tests.support.demo_judge", "--rate", "0", "--port", "0"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=clean_environment({"TMPDIR": str(tmp_path)}),
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert demo.returncode == 0, demo.stderr
    first, *_ = demo.stderr.splitlines()
    assert f"the judge is {MODEL}" in first
    assert "far too small to judge well" in first
    lines = [line for line in demo.stdout.splitlines() if not line.startswith(" ")]  # but no claims
    assert len(lines) == 86
    assert "86 answers scored: " in demo.stderr
    asked = [line for line in lines if f"[single by {MODEL}: " in line]
    assert 1 <= len(asked) <= 2
    assert any("judge budget spent" in line for line in lines)
    assert list(tmp_path.iterdir()) == []


def test_a_demo_that_is_to_ask_and_is_told_nobody_is_one_line_and_wrong_usage():
    done = truthgate("demo", "--judges")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "truthgate: --judges: no language model is configured (set judges.endpoints)\n"
