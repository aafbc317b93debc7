"""Files of one JSON object a line: chat logs, rated or not, and help documents, read line by line."""

import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from schemas.records import (
    AnswerContext,
    ChatbotAnswer,
    DocumentIds,
    ExpectedAnswer,
    Identifier,
    KnowledgeDocument,
    Metadata,
    RatedAnswer,
    Rating,
    ShortText,
    Timestamp,
    TruthLabel,
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

    rating: Rating | None = None
    rating_second: Rating | None = None
    message_type: ShortText | None = None
    label: TruthLabel | None = None
    consistent: bool | None = None
    relevant: bool | None = None
    expected_answer: ExpectedAnswer | None = None

    def to_rated_answer(self, number: int, clock: Clock) -> RatedAnswer:
        return RatedAnswer(
            answer=self.to_answer(number, clock),
            rating=self.rating,
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


#: What is read of a line in a record's place, how the record is made of that, and whose fields are known.
_LINE_FORMATS: dict[type[Any], tuple[type[Any], Callable[[Any, int, Clock], Any], type[Any]]] = {
    ChatbotAnswer: (_AnswerLine, _AnswerLine.to_answer, _RatedLine),
    RatedAnswer: (_RatedLine, _RatedLine.to_rated_answer, _RatedLine),
    KnowledgeDocument: (_DocumentLine, _DocumentLine.to_document, _DocumentLine),
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
