"""Everything about one verdict of a file, for people and for programs."""

import json
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from schemas import to_json
from schemas.records import Verdict, VerdictPassage
from scoring.policy import Policy
from streams.cli.command_output import json_line
from streams.cli.explain_command import marked_answer, render_explanation
from streams.explaining.explanation import LocatedVerdict, VerdictLocation, trace_id
from streams.explaining.verdict_explainer import explain_verdict
from streams.pipeline.verdict import verdict_id
from tests.support.commands import truthgate_here
from tests.support.pages import blocked_verdict, opinion, with_claims
from tests.support.record_strategies import claims as any_claims

ANSWER = "Hallo! Klik op Opslaan.\nHet kost 50 euro. Het is blauw."
FAULTY = blocked_verdict(ANSWER, ("undefined_component", "Opslaan"), ("defined_component", "euro"))
VERDICT = replace(
    with_claims(
        FAULTY,
        ("not_checkable", "Hallo!"),
        ("supported", "Klik op Opslaan."),
        ("contradicted", "Het kost 50 euro."),
        ("not_found", "Het is blauw."),
        passage="Het kost 5 euro.",
    ),
    verdict_id=verdict_id("a-1"),
    opinions=(opinion(ANSWER, ("number", "50")),),
    context_source="retrieved",
    context=(VerdictPassage("d-1", "0123456789", 0.031, 20, 36, "Opslaan", "https://h/opslaan", 0.18, 0.22),),
    model="gpt-7",
    policy_version=Policy().identity,
    degraded=("documents_stale",),
    support=0.9,
    contradiction=0.9,
    score=1.4,
)


def shown(verdict: Verdict, *repeats: LocatedVerdict, width: int = 10_000) -> str:
    place = VerdictLocation("verdicts.blocked", 3, 12)
    explanation = explain_verdict(
        LocatedVerdict(verdict, place, verdict.scored_at, "ab" * 16), (Policy(),), repeats
    )
    written = StringIO()
    console = Console(file=written, width=width)
    for line in render_explanation(explanation):
        console.print(line)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())


def section(title: str, text: str) -> list[str]:
    """Give the lines of one section."""
    after = text.split(f"\n{title}", 1)[1].split("\n", 1)[1]
    return [line.strip() for line in after.split("\n\n")[0].splitlines()]


def test_one_reads_why_what_was_said_and_what_the_documents_say():
    text = shown(VERDICT)
    assert text.startswith("a-1  blocked  score 1.4 of 5  instruction, nl\n")
    why = section("Why", text)
    assert why[0].startswith("undefined component  The answer names a button")
    assert why[1].startswith("→ Look the marked name up")
    assert why[2].startswith("documents stale")
    assert why[2].endswith("(could not be checked)")
    assert section("Question", text) == ["Waar staat de knop?"]
    assert section("Answer", text) == ["Hallo! ✓Klik op «Opslaan».", "✗Het kost «50» euro. ?Het is blauw."]
    assert section("Claims", text)[2:4] == [
        "✓ supported  “Klik op Opslaan.”  7–23, support 0.50",
        "d-1@v1 0–16: “Het kost 5 euro.”",
    ]
    assert section("Claims", text)[4].startswith("✗ contradicted (number)  “Het kost 50 euro.”  24–41")


def test_one_reads_what_was_measured_and_by_which_policy_it_was_decided():
    text = shown(VERDICT)
    (rule,) = section("Rules", text)
    assert rule.startswith("undefined component: block, and decided  The answer names a button")
    assert rule.endswith("(evidence: undefined component; feature: components defined; contradiction 0.90)")
    assert section("Score", text)[0] == "1.40 = min(support 4.76, contradiction 1.40)"
    assert "contradiction 0.90: score 1.4" in section("Score", text)
    features = section("Features", text)
    assert features[0].startswith("components defined 0.00  Share of the named components")
    assert features[0].endswith("→ undefined component")
    assert features[1:] == ["undefined component “Opslaan” 15–22", "defined component “euro” 36–40"]
    assert section("Documents", text)[1] == (
        "d-1 “Opslaan” version 0123456789, characters 20–36, retrieval score 0.031, "
        "relevance 0.18 < floor 0.22 (retrieval.floor), https://h/opslaan"
    )
    assert section("Language models", text)[0] == "single by gpt_small: FALSE 0.93, number"
    assert section("Policy", text)[:2] == [
        f"version {Policy().identity}",
        "answers of this type and language: sent only by a rule, blocked only by a rule",
    ]
    times = section("Times and locations", text)
    assert times[0].endswith(" by gpt-7")
    assert "1.000 s later" in times[1]
    assert times[2].startswith("at verdicts.blocked 3:12, written ")
    assert times[4] == f"trace {'ab' * 16}"


def test_repeats_are_told_with_what_differs():
    later = replace(VERDICT, scored_at=VERDICT.scored_at + timedelta(minutes=1))
    sent = replace(later, decision="auto_send")
    repeats = section(
        "Repeats",
        shown(
            VERDICT,
            LocatedVerdict(later, VerdictLocation("t", 0, 1)),
            LocatedVerdict(sent, VerdictLocation("t", 0, 2)),
        ),
    )
    assert [line.split("  ")[1] for line in repeats] == ["t 0:1", "t 0:2"]
    assert [line.rpartition("  ")[2] for line in repeats] == ["the same", "differs in decision"]


def test_documents_that_the_answer_names_and_that_are_not_there_are_told_by_their_ids():
    none = replace(VERDICT, context_source="none", context=(), context_ids=())
    told = section("Documents", shown(replace(none, missing_context_ids=("nl/invoic", "nl/vat"))))
    assert told == ["The answer names missing documents: nl/invoic, nl/vat."]
    assert section("Documents", shown(none)) == [
        "None: the answer came without documents, and none was retrieved."
    ]


@given(st.lists(any_claims, max_size=5))
def test_whatever_claims_others_wrote_the_answer_stays_readable(claims):
    text = marked_answer(replace(VERDICT, claims=tuple(claims))).plain
    assert text.translate(str.maketrans("", "", "✗?✓«»")) == ANSWER


def test_nothing_moves_the_terminal():
    hostile = "\x1b[2J\x9b\u202e\r[bold]"
    text = shown(
        replace(
            with_claims(
                replace(FAULTY, answer=hostile, question=hostile, features=()), ("supported", hostile)
            ),
            answer_id=hostile,
            conversation_id=hostile,
            reasons=(hostile,),
            message_type=hostile,
            language=hostile,
            policy_version=hostile,
            context=(VerdictPassage(hostile, hostile, title=hostile, url=hostile),),
            model=hostile,
            context_ids=(hostile,),
        )
    )
    assert not set("\x1b\x9b\u202e\r") & set(text)
    assert "[bold]" in text


@pytest.fixture
def verdicts(tmp_path: Path) -> Path:
    file = tmp_path / "verdicts.jsonl"
    other = replace(VERDICT, answer_id="a-2", verdict_id=verdict_id("a-2"))
    repeated = replace(VERDICT, decision="review", scored_at=VERDICT.scored_at + timedelta(minutes=1))
    lines = (json_line(to_json(each)) for each in (other, VERDICT, repeated))
    file.write_text("\n".join(lines))
    return file


def test_a_verdict_of_a_file_is_found_by_either_id_the_first_unless_the_newest_is_wanted(verdicts):
    for wanted in ("a-1", VERDICT.verdict_id):
        done = truthgate_here("explain", wanted, "--file", verdicts, "--json")
        told = json.loads(done.stdout)
        assert (done.returncode, told["verdict"]) == (0, json.loads(json_line(to_json(VERDICT))))
        assert told["place"] == {
            "topic": None,
            "partition": None,
            "offset": None,
            "file": str(verdicts),
            "line": 2,
        }
        assert [(each["place"]["line"], each["differs"]) for each in told["repeats"]] == [(3, ["decision"])]
        assert told["score"]["made_by"] == "contradiction"
    newest = truthgate_here("explain", "a-1", "--file", verdicts, "--json", "--newest")
    assert json.loads(newest.stdout)["verdict"]["decision"] == "review"
    assert truthgate_here("explain", "a-1", "--file", verdicts).stdout.startswith("a-1  blocked")


def test_a_trace_is_told_where_the_header_is_a_valid_one():
    assert trace_id((("traceparent", b"00-" + b"ab" * 16 + b"-" + b"cd" * 8 + b"-01"),)) == "ab" * 16
    assert trace_id((("traceparent", b"nonsense"),)) is None
    assert trace_id(()) is None
