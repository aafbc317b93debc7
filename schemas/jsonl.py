"""Files read line by line: chat logs, rated or not, help documents, and reviews, as CSV too."""

import csv
import json
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, TypeVar

from pydantic import FailFast, Field, FiniteFloat

from schemas.records import (
    MAX_ITEMS,
    MAX_SAMPLING_WEIGHT,
    SENDING_OUTCOMES,
    AnswerContext,
    ChatbotAnswer,
    DocumentIds,
    ExpectedAnswer,
    Identifier,
    KnowledgeDocument,
    MeanRating,
    Metadata,
    RatedAnswer,
    Rating,
    Review,
    ShortText,
    Timestamp,
    TruthLabel,
    WrongSpan,
)
from schemas.validation import DecodeError, from_json

T = TypeVar("T")
Clock = Callable[[], datetime]
#: Called with the number of a line and a field of it that no such record has.
OnIgnoredField = Callable[[int, str], None]

MAX_LINE_BYTES = 4 * 1024 * 1024
"""Far above what a topic accepts as one value; a file without line ends does not fill the memory."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Within one line of a file, JSON's own count of lines would only mislead.
_LINE_WITHIN = re.compile(r" at line \d+ column")
_LINE_IDS = uuid.UUID("6d1c3c5e-54a5-5f0f-9f0e-8a6b1f0c2d47")


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that holds no such record: its number from 1, and why, without its texts."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class _AnswerLine:
    """A ChatbotAnswer as people write it: only question and answer are required."""

    question: str
    answer: str
    answer_id: Identifier | None = None
    conversation_id: Identifier | None = None
    context: AnswerContext = ()
    document_ids: DocumentIds = ()
    language: ShortText | None = None
    model: ShortText | None = None
    produced_at: Timestamp | None = None
    metadata: Metadata = field(default_factory=dict)

    def to_answer(self, number: int, clock: Clock) -> ChatbotAnswer:
        answer_id = self.answer_id or _line_id(number, self.question, self.answer)
        return ChatbotAnswer(
            answer_id=answer_id,
            conversation_id=self.conversation_id or answer_id,
            question=self.question,
            answer=self.answer,
            produced_at=self.produced_at or clock(),
            context=self.context,
            document_ids=self.document_ids,
            language=self.language,
            model=self.model,
            metadata=self.metadata,
        )


@dataclass(frozen=True, slots=True)
class _RatedLine(_AnswerLine):
    """A RatedAnswer as people write it: the fields of its answer, and those about it, side by side."""

    rating: MeanRating | None = None
    rating_first: MeanRating | None = None
    rating_second: MeanRating | None = None
    message_type: ShortText | None = None
    label: TruthLabel | None = None
    consistent: bool | None = None
    relevant: bool | None = None
    expected_answer: ExpectedAnswer | None = None

    def to_rated_answer(self, number: int, clock: Clock) -> RatedAnswer:
        return RatedAnswer(
            answer=self.to_answer(number, clock),
            rating=self.rating,
            rating_first=self.rating_first,
            rating_second=self.rating_second,
            message_type=self.message_type,
            label=self.label,
            consistent=self.consistent,
            relevant=self.relevant,
            expected_answer=self.expected_answer,
        )


@dataclass(frozen=True, slots=True)
class _DocumentLine:
    """A KnowledgeDocument as people write it: the time may be left out."""

    document_id: Identifier
    language: Identifier
    title: str
    text: str
    updated_at: Timestamp | None = None
    url: str | None = None
    auto_send: bool = False

    def to_document(self, _number: int, clock: Clock) -> KnowledgeDocument:
        return KnowledgeDocument(
            document_id=self.document_id,
            language=self.language,
            title=self.title,
            text=self.text,
            updated_at=self.updated_at or clock(),
            url=self.url,
            auto_send=self.auto_send,
        )


@dataclass(frozen=True, slots=True)
class _ReviewLine:
    """A Review as people and other tools write it; without an id, equal lines have equal ones."""

    verdict_id: Identifier
    answer_id: Identifier
    conversation_id: Identifier
    produced_at: Timestamp
    reviewer: Identifier
    outcome: Literal["send", "send_edited", "reject", "expired", "none"] = "none"
    text: str | None = None
    rating: Rating | None = None
    label: TruthLabel | None = None
    wrong_spans: Annotated[tuple[WrongSpan, ...], FailFast(), Field(max_length=MAX_ITEMS)] = ()
    comment: str | None = None
    reviewed_at: Timestamp | None = None
    source: Literal["external", "desk", "known_answer"] = "external"
    sampling_weight: Annotated[FiniteFloat, Field(ge=1, le=MAX_SAMPLING_WEIGHT)] = 1.0
    proposal: Literal["send", "send_edited", "reject"] | None = None
    review_id: Identifier | None = None

    def __post_init__(self) -> None:
        if self.outcome in SENDING_OUTCOMES and not (self.text or "").strip():
            raise ValueError(f"text: is what is sent, and {self.outcome} needs it")

    def to_review(self, _number: int, clock: Clock) -> Review:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values["review_id"] = self.review_id or str(uuid.uuid5(_LINE_IDS, repr(values)))
        values["reviewed_at"] = self.reviewed_at or clock()
        return Review(**values)


#: What is read of a line in a record's place, how the record is made of that, and whose fields are known.
_LINE_FORMATS: dict[type[Any], tuple[type[Any], Callable[[Any, int, Clock], Any], type[Any]]] = {
    ChatbotAnswer: (_AnswerLine, _AnswerLine.to_answer, _RatedLine),
    RatedAnswer: (_RatedLine, _RatedLine.to_rated_answer, _RatedLine),
    KnowledgeDocument: (_DocumentLine, _DocumentLine.to_document, _DocumentLine),
    Review: (_ReviewLine, _ReviewLine.to_review, _ReviewLine),
}


def utc_now() -> datetime:
    """Return the present instant, aware, in UTC."""
    return datetime.now(UTC)


def read_jsonl(
    path: Path, record_type: type[T], clock: Clock = utc_now, on_ignored: OnIgnoredField | None = None
) -> Iterator[tuple[int, T | BadLine]]:
    """Read the records of a file, each with its line's number from 1; blank lines are passed over.

    A ChatbotAnswer, rated or not, may come without ids (they are then derived from line number, question and
    answer: the same file gives the same ids) and time (``clock``'s); a KnowledgeDocument without
    time. Fields that the record does not have are ignored, and ``ignored`` is called with the line and the
    field; one whose name is a slip makes a bad line. An answer may have the fields of a rated one. Never
    raises for what a file holds, but OSError if it cannot be read.
    """
    with path.open("rb") as file:
        for number, line in _lines(file):
            if isinstance(line, BadLine):
                yield number, line
            elif line.strip():
                yield number, _read_line(number, line, record_type, clock, on_ignored)


#: What a spreadsheet would take for a formula, in full width too; written with a quote before it.
FORMULA_BEGINS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def read_csv(
    path: Path, record_type: type[T], clock: Clock = utc_now, on_ignored: OnIgnoredField | None = None
) -> Iterator[tuple[int, T | BadLine]]:
    """Read the records of a CSV file as :func:`read_jsonl` does; its first line names the fields.

    Empty cells are fields that are left out; numbers and lists are as in JSON. A record's number is that of
    the line on which it ends.
    """
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield reader.line_num, BadLine(reader.line_num, f"no valid CSV: {error}")
                return
            if None in row:
                yield reader.line_num, BadLine(reader.line_num, "has more cells than the first line")
                continue
            values = {name: _cell(name, text) for name, text in row.items() if text}
            line = json.dumps(values).encode()
            yield reader.line_num, _read_line(reader.line_num, line, record_type, clock, on_ignored)


def _cell(name: str, text: str) -> Any:
    if name in {"rating", "sampling_weight", "wrong_spans"}:
        try:
            return json.loads(text)
        except ValueError:
            return text  # which is then named as what is wrong with the field
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA_BEGINS) else text


def _read_line(
    number: int, line: bytes, record_type: type[T], clock: Clock, on_ignored: OnIgnoredField | None
) -> T | BadLine:
    shape, complete, known = _LINE_FORMATS.get(record_type, (record_type, None, None))
    tell = partial(on_ignored, number) if on_ignored else None
    try:
        record: Any = from_json(line.rstrip(), shape, known, tell)
    except DecodeError as error:
        if error.stage == "validate":
            return BadLine(number, error.detail)
        return BadLine(number, f"no valid JSON: {_LINE_WITHIN.sub(' at column', error.detail)}")
    whole: T = complete(record, number, clock) if complete else record
    return whole


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes | BadLine]]:
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            _skip_rest(file)
            yield number, BadLine(number, f"is longer than {MAX_LINE_BYTES} bytes")
        else:
            yield number, line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line


def _skip_rest(file: BinaryIO) -> None:
    while (part := file.readline(MAX_LINE_BYTES)) and not part.endswith(b"\n"):
        pass


def _line_id(number: int, question: str, answer: str) -> str:
    return str(uuid.uuid5(_LINE_IDS, f"{number}\n{len(question)}\n{question}{answer}"))
