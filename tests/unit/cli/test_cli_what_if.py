"""Another policy on the same scores, and two files of verdicts: what would change, and what did."""

import json
from pathlib import Path
from typing import Any

import pytest

from scoring.policy import Override, Policy
from scoring.values.assessment import Assessment
from scoring.values.types import Exchange, MessageType
from streams.cli.entry import run
from streams.cli.evaluate.what_if import AssessedOnce
from streams.settings import WrongSettings
from streams.settings.other_policy import other_policy
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


def moves(found: dict[str, Any]) -> list[tuple[str, int, str, str]]:
    """Give what is decided otherwise: id, rating, from and to."""
    return [
        (each["answer_id"], each["rating"], each["before"]["decision"], each["after"]["decision"])
        for each in found["changes"]
        if each["before"]["decision"] != each["after"]["decision"]
    ]


def test_another_policy_stands_beside_todays_with_the_answers_that_it_would_route_otherwise(
    rated: Path, tmp_path: Path
) -> None:
    done = truthgate_here("evaluate", rated, "--auto-send-at", "4.5", "--block-below", "2.5", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert [each["name"] for each in found["runs"]] == ["off"]
    what_if = found["what_if"]
    assert moves(what_if) == [("true", 5, "review", "auto_send"), ("untrue", 1, "review", "blocked")]
    assert (what_if["today"]["policy_version"], what_if["other"]["auto_send_at"]) == ("shipped-3", 4.5)
    assert what_if["before"]["sending"]["untrue"]["blocked"]["count"] == 1
    assert what_if["after"]["sending"]["untrue"]["blocked"]["count"] == 2
    assert what_if["after"]["sending"]["true"]["auto_send"]["low"] > 0
    assert what_if["scored"]["count"] == 0
    shown = truthgate_here("evaluate", rated, "--auto-send-at", "4.5").stdout
    parts = ("Decisions: today (rows), what if (columns)", "true: what if", "Decided otherwise: 1 answer")
    assert [part for part in parts if part not in shown] == []
    first, _, rest = shown.partition("As it is today\n")
    assert first.startswith("What if: the same scores under another policy\n")
    assert ([part for part in parts if part not in first], "what if" in rest) == ([], False)


def test_a_policy_of_a_file_is_for_types_and_languages_and_what_it_does_not_name_stays(
    rated: Path, tmp_path: Path
) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(
        '[policy]\n[[policy.overrides]]\nmessage_type = "binary"\nlanguage = "en"\nblock_below = 2.5\n'
    )
    done = truthgate_here("evaluate", rated, "--policy", file, "--json")
    what_if = json.loads(done.stdout)["what_if"]
    assert moves(what_if) == [("untrue", 1, "review", "blocked")]
    today = Policy(auto_send_at=4.0)
    other = other_policy(today, file, {"block_below": 2.0})
    override = Override(MessageType.BINARY, "en", block_below=2.5)
    assert other == Policy(auto_send_at=4.0, block_below=2.0, overrides=(override,))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("block_below = 2", "should hold the section [policy]"),
        ("[policy]\n[web]\nport = 1", "should hold the section [policy]"),
        ("[policy]\nblock_blow = 2", "policy.block_blow is not a setting of truthgate"),
        ("[policy]\nblock_below = 6", "needs 1 <= block_below < auto_send_at <= 5"),
        ("[policy", "is not TOML"),
    ],
)
def test_a_file_that_holds_no_such_policy_is_refused_by_name(
    tmp_path: Path, text: str, complaint: str
) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(WrongSettings) as refused:
        other_policy(Policy(), file, {})
    assert str(file) in str(refused.value)
    assert complaint in str(refused.value)


async def test_what_several_policies_decide_on_is_assessed_once() -> None:
    class Counting:
        asked = 0

        async def assess(self, exchange: Exchange, degraded: tuple[str, ...]) -> Assessment:
            self.asked += 1
            return Assessment(3.0, MessageType.BINARY, "en", degraded=degraded)

    counting = Counting()
    once = AssessedOnce(counting)
    exchange = Exchange("q", "a")
    first = await once.assess(exchange, ())
    assert await once.assess(Exchange("q", "a"), ()) is first
    assert (await once.assess(exchange, ("documents_stale",))).degraded == ("documents_stale",)
    assert counting.asked == 2
    for number in range(300):
        await once.assess(Exchange("q", str(number)), ())
    await once.assess(exchange, ())
    assert counting.asked == 303


def test_two_files_of_verdicts_are_compared_and_nothing_is_judged(rated: Path, verdicts: Path) -> None:
    files = (verdicts / "paper.jsonl", verdicts / "truthgate.jsonl")
    done = truthgate_here("evaluate", rated, "--compare", *files, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["answers"], found["rated"]) == (3, 3)
    assert [each["answers"] for each in found["files"]] == [3, 3]
    assert found["scored"]["count"] == len(found["changes"]) > 0
    assert found["after"]["sending"]["untrue"]["blocked"]["total"] == 2
    shown = truthgate_here("evaluate", "--compare", *files).stdout
    assert "3 answers in both, 0 rated" in shown
    assert "paper.jsonl (rows)" in shown
    assert "True and untrue" not in shown
    assert "Scored otherwise: " in shown


def test_answers_that_only_one_file_has_are_told_and_left_out(rated: Path, verdicts: Path) -> None:
    whole = verdicts / "truthgate.jsonl"
    lines = whole.read_text().splitlines()
    part = verdicts / "part.jsonl"
    part.write_text("\n".join(["broken", lines[0], lines[0], lines[1]]))
    done = truthgate_here("evaluate", rated, "--compare", part, whole, "--json")
    assert (done.returncode, json.loads(done.stdout)["answers"]) == (1, 2)
    assert done.stderr.splitlines() == [
        f"truthgate: {part}, line 1: no valid JSON: expected value at column 1",
        f"truthgate: {part}: 1 repeated answer: the first verdict counts",
        f"truthgate: 1 answer of {whole} not in {part}: left out",
        "truthgate: 1 rated answers are not in both files: left out",
    ]
    part.write_text(lines[0].replace('"blocked"', '"shredded"').replace('"review"', '"shredded"'))
    none = truthgate_here("evaluate", "--compare", part, whole)
    assert none.returncode == 1
    assert "line 1: decision: should be one of auto_send, review, blocked" in none.stderr
    assert "have no answer in common" in none.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "give a FILE of rated answers, or two files of verdicts with --compare"),
        (("RATED", "--compare", "RATED"), "--compare"),
        (("--compare", "RATED", "gone.jsonl"), "gone.jsonl does not exist"),
        (
            ("--compare", "RATED", "RATED", "--profile", "paper", "--tau", ".5"),
            "so leave out --profile, --tau",
        ),
        (("RATED", "--auto-send-at", "1"), "needs 1 <= block_below < auto_send_at <= 5"),
        (
            ("RATED", "--block-below", "2", "--profile", "paper", "--profile", "truthgate"),
            "one thing at a time",
        ),
    ],
)
def test_wrong_usage_is_one_line_before_anything_is_judged(
    rated: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], complaint: str
) -> None:
    assert run(["evaluate", *(str(rated) if each == "RATED" else each for each in arguments)]) == 2
    shown = capsys.readouterr().err
    assert complaint in shown
    assert shown.count("\n") == 1
