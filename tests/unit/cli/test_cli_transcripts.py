"""Commands answer as their transcripts show: standard output, standard error and exit code, word for word."""

import re
from difflib import unified_diff

import pytest

from tests.support.transcripts import TRANSCRIPTS, run_again, steps


@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.iterdir()), ids=lambda path: path.stem)
def test_commands_answer_as_their_transcript_shows(path):
    text = path.read_text("utf-8")
    assert len(list(steps(text))) == text.count("\n  $ ") > 0
    changed = list(
        unified_diff(*map(_pieces, (text, run_again(text))), "expected", "found", lineterm="", n=2)
    )
    again = f"if so meant: `python -m tests.support.transcripts {path.stem}`"
    assert not changed, "\n".join([again, *changed])


def _pieces(text: str) -> list[str]:
    """Give the lines, those of JSON in pieces: what changed in one is then seen."""
    return re.sub(r'(?<=[,{\[])(?=["{\[])', "\n", text).splitlines()
