"""The pieces that commands are made of: pace, feed, rendering, and the memory of what was replayed."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO

import pytest
from aiokafka import ConsumerRecord
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table
from rich.text import Text

from schemas import ChatbotAnswer, VerdictEvidence, VerdictFeature, VerdictPassage
from schemas.records import VerdictOpinion
from streams.cli.command_files import map_good_lines, read_records
from streams.cli.command_output import InputErrors, json_line, printable
from streams.cli.dead_letters.dead_letter_archive import ArchivedLetter, LetterFilter
from streams.cli.dead_letters.dead_letter_commands import ReplayResult
from streams.cli.demo.demo_board import DemoBoard, tables
from streams.cli.demo.sample import sample_answers, sample_documents
from streams.cli.stream_commands import seconds_until_due
from streams.cli.topic_access import OnSettled, OutgoingRecord, Sender
from streams.cli.verdict_rendering import ResultConsole, marked_excerpt, verdict_line
from streams.delivery.dead_letter_progress import MAX_METADATA, OffsetSet
from streams.kafka.topics import Topics
from streams.observability.failures import Stage
from streams.pipeline.verdict import fault_evidence, verdict_id
from tests.support.verdicts import any_verdict

WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
ANSWER = "First click **Save** and then **Send to the bank**."
BAD = VerdictEvidence("undefined_component", "Send to the bank", 32, 48)
GOOD = VerdictEvidence("question_word", "click", 6, 11)
VERDICT = any_verdict(
    verdict_id=verdict_id("a-1"),
    decision="blocked",
    reasons=("undefined_component",),
    answer=ANSWER,
    features=(VerdictFeature("components_defined", 0.5, (BAD, GOOD, BAD)),),
)


def test_a_rate_spaces_answers_evenly_whatever_was_recorded():
    assert [seconds_until_due(index, 99.0, 4, None) for index in range(3)] == [0, 0.25, 0.5]


def test_a_speed_divides_the_recorded_time_and_never_goes_back():
    assert [seconds_until_due(5, recorded, None, 10) for recorded in (0.0, 60.0, -5.0)] == [0, 6, 0]


def test_without_a_pace_everything_is_due_at_once():
    assert seconds_until_due(1000, 1000.0, None, None) == 0


async def test_results_come_in_the_order_of_the_input_whatever_finishes_first():
    async def work(item: int) -> int:
        await asyncio.sleep(0.02 if item % 3 == 0 else 0)
        return item

    lines = [(number, number) for number in range(50)]
    assert [each async for each in map_good_lines(lines, work, 8, InputErrors("x"))] == lines


async def test_not_more_than_the_limit_and_a_little_read_ahead_is_taken_from_a_long_input():
    taken = 0

    def endless() -> Iterator[tuple[int, int]]:
        nonlocal taken
        while True:
            taken += 1
            yield taken, taken

    async def work(item: int) -> int:
        return item

    results = map_good_lines(endless(), work, 4, InputErrors("x"))
    assert [await anext(results) for _ in range(10)] == [(each, each) for each in range(1, 11)]
    await results.aclose()
    await asyncio.sleep(0.05)
    assert taken < 200


async def test_a_failing_input_gives_what_came_before_it_and_then_its_error():
    def failing() -> Iterator[tuple[int, int]]:
        yield 1, 1
        raise OSError("gone")

    async def work(item: int) -> int:
        return item

    results = map_good_lines(failing(), work, 4, InputErrors("x"))
    assert await anext(results) == (1, 1)
    with pytest.raises(OSError, match="gone"):
        await anext(results)


async def test_no_work_goes_on_after_its_results_are_no_longer_wanted():
    working = set()

    async def work(item: int) -> int:
        working.add(item)
        try:
            await asyncio.sleep(0 if item == 0 else 60)
        finally:
            working.discard(item)
        return item

    results = map_good_lines(((each, each) for each in range(50)), work, 4, InputErrors("x"))
    assert await anext(results) == (0, 0)
    await results.aclose()
    assert working == set()


@given(st.text())
def test_nothing_that_moves_the_cursor_gets_to_a_terminal_and_offsets_stay(text):
    shown = printable(text)
    assert len(shown) == len(text)
    assert "\x1b" not in shown
    assert "\n" not in shown


def test_json_has_no_numbers_that_json_does_not_know():
    with pytest.raises(ValueError, match="JSON compliant"):
        json_line({"score": float("nan")})


def test_only_what_speaks_against_the_answer_is_shown_as_offending_and_once():
    assert fault_evidence(VERDICT) == (BAD,)


def test_a_line_tells_decision_score_type_id_reason_and_words():
    line = verdict_line(VERDICT).plain
    assert line.endswith("blocked    1.0  binary       a-1  undefined component  “Send to the bank”")


def test_a_line_names_the_versions_of_documents_that_were_looked_up_or_retrieved_each_once():
    passages = tuple(VerdictPassage(f"d-{n}", "0123456789abcdef", 0.5, 0, 9) for n in (1, 1, 2, 3, 4))
    retrieved = replace(VERDICT, context_source="retrieved", context=passages)
    named = "(retrieved: d-1@01234567, d-2@01234567, d-3@01234567 and 1 more)"
    assert verdict_line(retrieved).plain.endswith(f"“Send to the bank”  {named}")
    by_id = replace(VERDICT, context_source="by_id", context=passages[:1])
    assert verdict_line(by_id).plain.endswith("  (by id: d-1@01234567)")
    inline = replace(VERDICT, context_source="inline", context=(VerdictPassage("d-1"),))
    assert verdict_line(inline).plain == verdict_line(VERDICT).plain


def test_a_line_names_documents_that_are_not_there():
    missing = replace(VERDICT, context_source="none", missing_context_ids=("nl/invoic", "b\n", "c", "d"))
    assert verdict_line(missing).plain.endswith("  (missing: nl/invoic, b , c and 1 more)")


def test_a_line_tells_what_language_models_said_and_the_words_they_call_wrong():
    wrong = VerdictEvidence("order", "and then", 21, 29)
    unsure = VerdictOpinion("single", ("qwen_small",), "0", None, 0.0, unsure="cut_off")
    sure = VerdictOpinion(
        "cot-sc", ("a", "b"), "0", "FALSE", 0.934, mistakes=("order", "off_context"), evidence=(wrong,)
    )
    line = verdict_line(replace(VERDICT, opinions=(unsure, sure))).plain
    assert line == (
        f"{verdict_line(VERDICT).plain.removesuffix('“Send to the bank”')}“and then”, “Send to the bank”"
        "  [single by qwen_small: no label, cut off]  [cot-sc by a, b: FALSE 0.93, order, off context]"
    )


def test_a_line_of_a_verdict_with_hostile_texts_is_still_one_safe_line():
    hostile = VerdictPassage("d\x1b[2J\n1", "v\n")
    line = verdict_line(
        replace(
            VERDICT,
            answer_id="a\x1b[2J\n1",
            reasons=("new\nreason",),
            context_source="by_id",
            context=(hostile,),
            opinions=(VerdictOpinion("s\n", ("m\x1b[2J\n",), "0", "T\n", 1, mistakes=("\n",)),),
        )
    ).plain
    assert "\x1b" not in line
    assert "\n" not in line


@given(st.text(max_size=80), st.integers(0, 80), st.integers(0, 20), st.integers(1, 60))
def test_an_excerpt_is_never_much_wider_than_asked(text, start, length, width):
    mark = (start, start + length, "", "red")
    assert len(marked_excerpt(text, [mark], width, width // 3).plain) <= width + 2


def test_an_excerpt_shows_the_words_at_fault_even_far_into_the_answer():
    far = "x" * 500 + "Send to the bank" + "y" * 500
    text = marked_excerpt(far, [(500, 516, "", "red")], 60, 20)
    (mark,) = text.spans
    assert text.plain[mark.start : mark.end] == "Send to the bank"


@given(st.lists(st.lists(st.integers(0, 300), max_size=20), max_size=10))
def test_what_was_replayed_is_remembered_through_a_commit(rounds):
    replayed, sent = OffsetSet(), set[int]()
    for offsets in rounds:
        sent |= set(offsets)
        replayed = replayed.plus((offset, offset) for offset in offsets)
        replayed = OffsetSet.from_commit(replayed.position, replayed.metadata)
        assert {offset for offset in range(320) if offset in replayed} == sent
        assert replayed.missing(10, 320) == len(set(range(10, 320)) - sent)


def test_more_gaps_than_a_commit_holds_are_forgotten_from_the_end():
    replayed = OffsetSet().plus((offset, offset) for offset in range(1, 20_000, 2))
    assert len(replayed.metadata) <= MAX_METADATA
    known = OffsetSet.from_commit(replayed.position, replayed.metadata)
    assert 1 in known
    assert 19_999 not in known
    assert 2 not in known


@pytest.mark.parametrize("metadata", ["someone else's", "5-", "-", "1,,2", "9" * 30])
def test_metadata_of_others_counts_as_none(metadata):
    assert OffsetSet.from_commit(3, metadata) == OffsetSet(3)


def test_a_huge_range_in_the_metadata_costs_nothing():
    assert 10**17 in OffsetSet.from_commit(0, f"5-{10**18}")


def letter(headers: list[tuple[str, bytes]]) -> ArchivedLetter:
    return ArchivedLetter(0, 7, b"c-1", b"\xc3\x01", tuple(headers))


def test_a_letter_is_sent_again_as_it_came_with_its_attempts_and_first_failure():
    headers = [
        ("ce_id", b"1"),
        ("ce_id", b"2"),
        ("dlq.stage", b"score"),
        ("dlq.topic", b"p.answers"),
        ("dlq.attempts", b"2"),
        ("dlq.first_failed_at", b"2026-03-02T09:15:00Z"),
    ]
    record = letter(headers).to_record(Topics("p."))
    assert (record.topic, record.key, record.value) == ("p.answers", b"c-1", b"\xc3\x01")
    assert record.headers == (headers[0], headers[1], headers[2], headers[4], headers[5])


@pytest.mark.parametrize(
    ("named", "goes_to"),
    [
        (b"documents", "documents"),
        (b"answers", "answers"),
        (b"verdicts.auto-send", "answers"),
        (b"\xff", "answers"),
    ],
)
def test_a_letter_goes_only_to_an_input_topic_whatever_its_header_says(named, goes_to):
    assert letter([("dlq.topic", named)]).to_record(Topics("")).topic == goes_to


def test_letters_about_one_record_are_told_by_its_place_and_bytes():
    place = [("dlq.topic", b"documents"), ("dlq.partition", b"3"), ("dlq.offset", b"12")]
    one = letter([*place, ("dlq.first_failed_at", b"2026-03-02T09:15:00Z")])
    other = replace(letter([*place, ("dlq.first_failed_at", b"later")]), partition=2, offset=9)
    assert one.record_digest == other.record_digest
    assert letter([*place[:2], ("dlq.offset", b"13")]).record_digest != one.record_digest
    assert replace(other, value=b"of a topic made anew").record_digest != one.record_digest
    assert letter([("dlq.stage", b"decode")]).record_digest == b"0:7"


class Sending(Sender):
    """Settles each record at once, and keeps what was sent."""

    def __init__(self) -> None:
        self.values: list[bytes | None] = []

    async def send(self, record: OutgoingRecord, on_settled: OnSettled) -> None:
        self.values.append(record.value)
        on_settled(None)


async def test_of_letters_that_were_sent_again_only_the_places_are_kept():
    place = [("dlq.topic", b"answers"), ("dlq.partition", b"3"), ("dlq.offset", b"12")]
    resent = ReplayResult(Topics(""), documents=False)
    resent.sender = sending = Sending()
    for offset in (7, 8):
        await resent.process(replace(letter(place), offset=offset))
    await resent.process(replace(letter([]), offset=9))
    assert sending.values == [b"\xc3\x01"] * 2
    assert resent.sent == {"answers": 2}
    assert resent.done == [(0, 7), (0, 8), (0, 9)]


async def test_what_failed_for_the_same_reason_twice_is_sent_again_only_when_asked():
    left = ReplayResult(Topics(""), documents=False)
    asked = ReplayResult(Topics(""), documents=False, repeated=True)
    for resent in (left, asked):
        await resent.process(letter([("dlq.repeated", b"1")]))
        await resent.process(replace(letter([("dlq.attempts", b"2")]), offset=8))
    assert (left.sent, left.failed_twice) == ({"answers": 1}, 1)
    assert left.done == [(0, 8)]
    assert (asked.sent, asked.failed_twice) == ({"answers": 2}, 0)


def test_a_choice_knows_which_of_the_named_places_had_no_letter_that_is_meant():
    choice = LetterFilter([Stage.DECODE], ["0:07", "0:8", "1:7"])
    other = replace(letter([("dlq.stage", b"score")]), offset=8)
    assert [choice(letter([("dlq.stage", b"decode")])), choice(other)] == [True, False]
    assert choice.unmatched == {(0, 8), (1, 7)}


def test_what_is_written_to_a_pipe_is_neither_wrapped_nor_cut(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    table = Table("reason", "key", box=None)
    table.add_row("word " * 60, "k" * 300)
    ResultConsole().print(table)
    ResultConsole().print(Text("word " * 60))
    heading, row, line = capsys.readouterr().out.splitlines()
    assert (heading.split(), row.split(), line.split()) == (
        ["reason", "key"], [*["word"] * 60, "k" * 300], ["word"] * 60
    )  # fmt: skip


def test_a_record_with_hostile_headers_is_still_a_letter():
    record = ConsumerRecord("t", 0, 1, 0, 0, None, None, None, 0, 0, (("dlq.stage", None), ("x", b"\xff")))
    assert ArchivedLetter.of(record).to_json()["stage"] == ""


def test_the_board_is_complete_when_every_answer_has_a_verdict_and_counts_each_once():
    board = DemoBoard(["a-1", "a-2"], dead_letters=1)
    assert [board.add(VERDICT), board.add(VERDICT)] == [True, False]
    assert not board.add(replace(VERDICT, verdict_id="of another run"))
    board.letters += 1
    assert (board.settled, board.total, board.complete) == (2, 3, False)
    assert board.summary().endswith("1 blocked; 1 dead letter, 1 lost")
    board.add(replace(VERDICT, verdict_id=verdict_id("a-2"), decision="review", score=None))
    assert board.complete


@pytest.mark.parametrize(("width", "height"), [(80, 24), (140, 40), (40, 10)])
def test_the_tables_fit_the_terminal(width, height):
    board = DemoBoard([f"a-{index}" for index in range(100)])
    for index in range(100):
        board.add(replace(VERDICT, verdict_id=verdict_id(f"a-{index}")))
    console = Console(width=width, height=height, record=True, file=StringIO())
    console.print(tables(board, width, height))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) <= max(height, 14)


def test_every_line_of_the_sample_is_good_and_every_document_it_names_is_there():
    for language in ("nl", "en"):
        known = {document.document_id for document in sample_documents(language)}
        answers = sample_answers(language)
        assert (len(known), len(answers)) == (39, 86)
        assert {each for answer in answers for each in answer.document_ids} <= known


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        ("", "the file has no lines"),
        ("abaca", "2 repeated answer ids (line 3 repeats line 1, line 5 repeats line 1)"),
        ("ab", None),
    ],
)
def test_a_file_that_is_empty_or_has_two_answers_with_one_id_says_so(ids, told, tmp_path, capsys):
    file = tmp_path / "answers.jsonl"
    rest = {"conversation_id": "c-1", "question": "How?", "answer": "So.", "produced_at": WHEN.isoformat()}
    file.write_text("".join(json.dumps({"answer_id": one, **rest}) + "\n" for one in ids))
    assert len(list(read_records(file, ChatbotAnswer))) == len(ids)
    assert capsys.readouterr().err == (f"truthgate: {file}: {told}\n" if told else "")
