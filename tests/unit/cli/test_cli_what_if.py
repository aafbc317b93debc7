"""Another policy on the same scores, and two files of verdicts: what would change, and what did."""

import json
from pathlib import Path

import pytest

from scoring.policy import Override, Policy
from scoring.values.exchange import Exchange, MessageType
from scoring.values.scored_answer import ScoredAnswer
from streams.cli.evaluate.rated_files import ScoreCache
from streams.settings.effective_settings import merge_policy
from tests.support.commands import truthgate_here

CONTEXT = [{"document_id": "d-1", "title": "Saving", "text": "Click **Save** to save. It takes a minute."}]
LINES = [
    {"answer_id": "true", "answer": "Yes, by **Save**, and it takes a minute.", "rating": 5},
    {
        "answer_id": "untrue",
        "answer": "Yes, but it costs a fortune these days, click **Save**.",
        "rating": 1,
    },
    {"answer_id": "caught", "answer": "Yes, click **Keep**.", "rating": 1},
]


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    lines = ({"question": "Can I save?", "language": "en", "context": CONTEXT, **line} for line in LINES)
    path = tmp_path / "rated.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


@pytest.fixture
def verdicts(rated: Path, tmp_path: Path) -> Path:
    """Give the verdicts of profile paper and those of profile truthgate, each in a file."""
    for profile in ("paper", "truthgate"):
        output = tmp_path / f"{profile}.jsonl"
        assert truthgate_here("score", rated, "--profile", profile, "--output", output).returncode == 0
    return tmp_path


def test_a_policy_of_a_file_is_for_types_and_languages_and_what_it_does_not_name_stays(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text(
        '[policy]\n[[policy.overrides]]\nmessage_type = "binary"\nlanguage = "en"\nblock_below = 2.5\n'
    )
    today = Policy(auto_send_at=4.0)
    other = merge_policy(today, file, {"block_below": 2.0})
    override = Override(MessageType.BINARY, "en", block_below=2.5)
    assert other == Policy(auto_send_at=4.0, block_below=2.0, overrides=(override,))


async def test_what_several_policies_decide_on_is_assessed_once():
    class Counting:
        asked = 0

        async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
            self.asked += 1
            return ScoredAnswer(3.0, MessageType.BINARY, "en", degraded=degraded)

    counting = Counting()
    once = ScoreCache(counting)
    exchange = Exchange("q", "a")
    first = await once.score(exchange, ())
    assert await once.score(Exchange("q", "a"), ()) is first
    assert (await once.score(exchange, ("documents_stale",))).degraded == ("documents_stale",)
    assert counting.asked == 2
    for number in range(300):
        await once.score(Exchange("q", str(number)), ())
    await once.score(exchange, ())
    assert counting.asked == 303


def test_answers_that_only_one_file_has_are_told_and_left_out(rated, verdicts):
    whole = verdicts / "truthgate.jsonl"
    lines = whole.read_text().splitlines()
    part = verdicts / "part.jsonl"
    part.write_text("\n".join(["broken", lines[0], lines[0], lines[1]]))
    done = truthgate_here("evaluate", rated, "--compare", part, whole, "--json")
    assert (done.returncode, json.loads(done.stdout)["answers"]) == (1, 2)
    assert done.stderr.splitlines() == [
        f"truthgate: {part}, line 1: no valid JSON: expected value at column 1",
        f"truthgate: {part}: 1 repeated answer: the first verdict counts",
        f"truthgate: 1 answer of {whole} not in {part}: excluded",
        "truthgate: 1 rated answer not in both files: excluded",
    ]
    part.write_text(lines[0].replace('"blocked"', '"shredded"').replace('"review"', '"shredded"'))
    none = truthgate_here("evaluate", "--compare", part, whole)
    assert none.returncode == 1
    assert "line 1: decision: should be one of auto_send, review, blocked" in none.stderr
    assert "have no answer in common" in none.stderr
