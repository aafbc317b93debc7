"""Whatever the Python and its order of hashes: the sample has the same verdicts."""

from __future__ import annotations

from difflib import unified_diff

from tests.support.sample_verdicts import EXPECTED, table


def test_the_verdicts_on_the_sample_are_the_expected_ones() -> None:
    expected = EXPECTED.read_text("utf-8").splitlines()
    changed = list(unified_diff(expected, table(), "expected", "found", lineterm="", n=0))
    assert not changed, "\n".join(["if so meant: `python -m tests.support.sample_verdicts`", *changed])
