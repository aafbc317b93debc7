"""Chat logs and documents as files: what may be left out, and what each bad line is told."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import BadLine, ChatbotAnswer, KnowledgeDocument, Review, WrongSpan, read_jsonl, to_json
from schemas import jsonl as module
from schemas.jsonl import read_csv
from tests.support.record_strategies import ANSWER
from tests.support.reviews import a_review

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
SMALLEST: dict[str, Any] = {"question": "Kan dat?", "answer": "Ja."}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def read(path: Path, *lines: bytes) -> list[tuple[int, ChatbotAnswer | BadLine]]:
    path.write_bytes(b"\n".join(lines))
    return list(read_jsonl(path, ChatbotAnswer, clock=lambda: NOW))


def reason(path: Path, line: bytes) -> str:
    ((number, bad),) = read(path, line)
    assert isinstance(bad, BadLine)
    assert bad.number == number == 1
    return bad.reason


def with_field(**fields: object) -> bytes:
    return json.dumps(SMALLEST | fields).encode()


def test_a_whole_line_is_the_record_that_was_written(path: Path) -> None:
    assert read(path, json.dumps(to_json(ANSWER)).encode()) == [(1, ANSWER)]


def test_question_and_answer_are_enough(path: Path) -> None:
    ((_, answer),) = read(path, json.dumps(SMALLEST).encode())
    assert isinstance(answer, ChatbotAnswer)
    assert answer.conversation_id == answer.answer_id
    assert (answer.question, answer.answer, answer.produced_at) == ("Kan dat?", "Ja.", NOW)


def test_missing_ids_are_the_same_at_every_reading_and_differ_by_line(path: Path) -> None:
    lines = [json.dumps(SMALLEST).encode()] * 2
    first, second = (record for _, record in read(path, *lines))
    assert [first, second] == [record for _, record in read(path, *lines)]
    assert isinstance(first, ChatbotAnswer)
    assert isinstance(second, ChatbotAnswer)
    assert first.answer_id != second.answer_id


def test_a_missing_id_depends_on_where_the_question_ends(path: Path) -> None:
    ((_, one),) = read(path, b'{"question": "ab", "answer": "c"}')
    ((_, other),) = read(path, b'{"question": "a", "answer": "bc"}')
    assert isinstance(one, ChatbotAnswer)
    assert isinstance(other, ChatbotAnswer)
    assert one.answer_id != other.answer_id


def test_fields_of_a_rated_file_are_passed_over(path: Path) -> None:
    line = with_field(rating=4, note="x", untrue=["y"], extra={"deep": [1, 2.5, None]})
    ((_, answer),) = read(path, line)
    assert isinstance(answer, ChatbotAnswer)


def test_blank_lines_and_line_ends_of_all_kinds_are_passed_over(path: Path) -> None:
    line = json.dumps(SMALLEST).encode()
    assert [number for number, _ in read(path, b"", line + b"\r", b"  \t\r", line, b"")] == [2, 4]


def test_a_byte_order_mark_at_the_start_is_passed_over(path: Path) -> None:
    ((_, answer),) = read(path, b"\xef\xbb\xbf" + json.dumps(SMALLEST).encode())
    assert isinstance(answer, ChatbotAnswer)


def test_an_empty_file_has_no_records(path: Path) -> None:
    assert read(path) == []


def test_a_bad_line_does_not_stop_the_next_ones(path: Path) -> None:
    good = json.dumps(SMALLEST).encode()
    kinds = [type(record) for _, record in read(path, b"{", good, b"\xff", b"7", good)]
    assert kinds == [BadLine, ChatbotAnswer, BadLine, BadLine, ChatbotAnswer]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"answer": "x"}', "question: is missing"),
        (with_field(question=5), "question: should be a valid string"),
        (with_field(question=None), "question: should be a valid string"),
        (with_field(document_ids=[5]), "document_ids[0]: should be a valid string"),
        (with_field(document_ids="d"), "document_ids: should be a valid"),
        (with_field(context=["d"]), "context[0]: should be a JSON object"),
        (with_field(context=[{"document_id": "d"}]), "context[0].text: is missing"),
        (
            with_field(context=[{"document_id": "d", "text": "t", "score": "0.5"}]),
            "context[0].score: should be a valid number",
        ),
        (
            with_field(context=[{"document_id": "d", "text": "t", "score": float("nan")}]),
            "context[0].score: should be a finite number",
        ),
        (with_field(metadata={"secret": 5}), "metadata.*: should be a valid string"),
        (with_field(produced_at=1_700_000_000), "produced_at: should be a valid datetime"),
        (with_field(produced_at="yesterday"), "produced_at: should be a valid datetime"),
        (with_field(produced_at="2026-03-02"), "produced_at: should be a valid datetime"),
        (with_field(produced_at="2026-03-02T09:15:00"), "produced_at: should have timezone info"),
        (with_field(answer_id=""), "answer_id: String should have at least 1 character"),
        (with_field(answer_id="x" * 257), "answer_id: String should have at most 256 characters"),
        (b"[]", "value: should be a JSON object"),
        (b"7", "value: should be a JSON object"),
        (b"null", "value: should be a JSON object"),
        (b'{"question": "a", "answer": "b", "question": "c"}', "no valid JSON: key question is repeated"),
        (b'{"question": "a", "answer": "b", "x": {"y": 1, "y": 2}}', "no valid JSON: key * is repeated"),
        (b'{"question": "a", "answer": "b", "x": NaN}', "no valid JSON: NaN is no JSON number"),
        (b'{"question": "a", "answer": "b"', "no valid JSON: EOF while parsing an object at column 31"),
        (b"{", "no valid JSON: EOF while parsing an object at column 1"),
        (b'{"question": "a", "answer": "b"} {}', "no valid JSON: trailing characters"),
        (b'{"question": "\xff", "answer": "b"}', "no valid JSON: invalid unicode code point"),
        (b'{"question": "a", "answer": "b", "x": ' + b"[" * 90_000, "no valid JSON: recursion limit"),
        (b'\xef\xbb\xbf\xef\xbb\xbf{"question": "a"}', "no valid JSON: expected value"),
    ],
)
def test_a_bad_line_says_what_is_wrong_and_where(path: Path, line: bytes, expected: str) -> None:
    assert reason(path, line).startswith(expected)


def test_the_reason_names_no_more_than_three_faults(path: Path) -> None:
    line = with_field(question=1, answer=2, language=3, model=4, answer_id=5)
    assert reason(path, line).count(";") == 3
    assert reason(path, line).endswith("; and 2 more")


def test_a_line_too_long_is_told_and_passed_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 100)
    good = json.dumps(SMALLEST).encode()
    exact = with_field(model="")[:-2] + b"x" * (100 - len(with_field(model=""))) + b'"}'
    found = read(path, b'{"question": "' + b"x" * 1_000, good, exact, b"x" * 101, good)
    assert [number for number, _ in found] == [1, 2, 3, 4, 5]
    assert [type(record) for _, record in found] == [
        BadLine,
        ChatbotAnswer,
        ChatbotAnswer,
        BadLine,
        ChatbotAnswer,
    ]
    assert found[0][1] == BadLine(1, "is longer than 100 bytes")


@given(st.lists(st.binary(max_size=60), max_size=8))
def test_no_file_makes_reading_fail(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    path = tmp_path_factory.getbasetemp() / "arbitrary.jsonl"
    found = read(path, *lines)
    assert all(isinstance(record, BadLine) for _, record in found)
    told = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    assert [number for number, _ in found] == [number for number, line in enumerate(told, 1) if line.strip()]


def test_a_document_needs_no_time(path: Path) -> None:
    path.write_text('{"document_id": "d", "language": "nl", "title": "T", "text": "x", "tags": []}\n')
    ((_, document),) = read_jsonl(path, KnowledgeDocument, clock=lambda: NOW)
    assert document == KnowledgeDocument("d", "nl", "T", "x", NOW)


def test_a_document_without_a_language_is_a_bad_line(path: Path) -> None:
    path.write_text('{"document_id": "d", "title": "T", "text": "x"}\n')
    ((_, bad),) = read_jsonl(path, KnowledgeDocument)
    assert bad == BadLine(1, "language: is missing")


def test_a_whole_record_is_read_as_it_is(path: Path) -> None:
    review = a_review(rating=4, reviewed_at=NOW)
    whole = json.dumps(to_json(review)) + "\n"
    path.write_text(whole + whole.replace('"rating": 4', '"rating": 6'))
    (_, read), (_, bad) = read_jsonl(path, Review)
    assert read == review
    assert bad == BadLine(2, "rating: should be less than or equal to 5")


SHORT = {
    "verdict_id": "v-1",
    "answer_id": "a-1",
    "conversation_id": "c-1",
    "produced_at": "2026-03-02T09:00:00Z",
    "reviewer": "kim",
}


def reviews(path: Path) -> list[Review | BadLine]:
    read = read_csv if path.suffix == ".csv" else read_jsonl
    return [each for _, each in read(path, Review, clock=lambda: NOW)]


def test_equal_reviews_without_an_id_have_equal_ones_at_any_time(path: Path) -> None:
    rows = [SHORT | {"rating": 4}, SHORT | {"rating": 4}, SHORT | {"rating": 5}]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    one, two, other = reviews(path)
    ((_, later), *_) = read_jsonl(path, Review, clock=lambda: NOW + timedelta(days=1))
    assert isinstance(one, Review)
    assert isinstance(later, Review)
    assert (one.outcome, one.source, one.reviewed_at, one.rating) == ("none", "external", NOW, 4)
    assert one == two == replace(later, reviewed_at=NOW)
    assert one.review_id != other.review_id


def test_what_is_sent_must_be_there_and_codes_must_be_known(path: Path) -> None:
    empty = [{"outcome": "send"}, {"outcome": "send", "text": " \n"}]
    bad = [*empty, {"outcome": "sent", "text": "x"}, {"label": "true"}, {"rating": "4"}]
    path.write_text("".join(json.dumps(SHORT | each) + "\n" for each in bad))
    reasons = [each.reason for each in reviews(path) if isinstance(each, BadLine)]
    assert len(reasons) == len(bad)
    assert all("send needs it" in each for each in reasons[:2])
    assert [each.partition(":")[0] for each in reasons[2:]] == ["outcome", "label", "rating"]


def test_reviews_in_csv_are_those_of_its_cells(tmp_path: Path) -> None:
    file, names = tmp_path / "reviews.csv", ",".join(SHORT)
    cells = ",".join(SHORT.values())
    spans = json.dumps([{"kind": "number", "text": "5", "start": 0, "end": 1}]).replace('"', '""')
    file.write_text(
        f"\ufeff{names},rating,outcome,text,comment,wrong_spans\r\n"
        f'{cells},4,send_edited,"Two\nlines, and ""more""",\'=1+1,"{spans}"\r\n'
        f"{cells},many,,,,\r\n{cells},,,,,,too many\r\n{cells},,,,\r\n",
        "utf-8",
    )
    first, bad, wide, last = reviews(file)
    assert isinstance(first, Review)
    assert (first.rating, first.text, first.comment) == (4, 'Two\nlines, and "more"', "=1+1")
    assert first.wrong_spans == (WrongSpan("number", "5", 0, 1),)
    assert bad == BadLine(4, "rating: should be a valid integer")
    assert wide == BadLine(5, "has more cells than the first line")
    assert isinstance(last, Review)
    assert last.rating is None


def test_a_file_that_is_no_csv_is_bad_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "reviews.csv"
    file.write_bytes(b'verdict_id\n"open')
    (bad,) = reviews(file)
    assert isinstance(bad, BadLine)
    assert bad.reason.startswith("no valid CSV")
    file.write_bytes(b"verdict_id\n\xff\n")
    (bad,) = reviews(file)
    assert isinstance(bad, BadLine)


def test_a_file_that_is_not_there_is_an_error_of_the_system(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_jsonl(path, ChatbotAnswer))
