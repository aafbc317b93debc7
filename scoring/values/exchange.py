"""The values that go into the scorer and come out of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

#: The ends of the scale of scores and ratings.
MIN_SCORE, MAX_SCORE = 1.0, 5.0


class MessageType(StrEnum):
    """What kind of question the user asked (paper, section IV-D, "Message Types")."""

    ERROR = "error"
    GENERAL = "general"
    REASONING = "reasoning"
    INSTRUCTION = "instruction"
    BINARY = "binary"
    ACTION = "action"
    UNSPECIFIED = "unspecified"


class RefusalKind(StrEnum):
    """Whether an answer says that it has none."""

    NONE = "not"
    PARTIAL = "and_answers"
    FULL = "purely"


class Decision(StrEnum):
    """Where an answer goes: to the customer, to a person, or nowhere."""

    AUTO_SEND = "auto_send"
    REVIEW = "review"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a help document that the chatbot was given, or should have been.

    ``score`` is that of the retrieval that found it, the chatbot's own or ours; ``version`` names the
    version of the document, where it came from the store of documents; ``offset`` is where the text begins in
    that of the document. ``url`` is where people read the document; nothing is scored by it.
    """

    document_id: str
    text: str
    title: str | None = None
    score: float | None = None
    version: str | None = None
    offset: int = 0
    url: str | None = None

    @property
    def text_with_title(self) -> str:
        """What is read of it: the title, which defines components and often stands apart, and the text."""
        return f"{self.title}\n\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class PublishedDocument:
    """A whole document of the deployment's own store, in its current version.

    ``auto_send`` is its publisher's mark: all of it may be sent in reply to a question that is its title.
    """

    document_id: str
    language: str
    title: str
    text: str
    auto_send: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence or line of a text and its translation, as character offsets into each."""

    start: int
    end: int
    translated_start: int
    translated_end: int


@dataclass(frozen=True, slots=True)
class TranslatedText:
    """A text in English, and which part of it translates which part of the original, in order."""

    text: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Translation:
    """An exchange in English; ``context`` is in the order of the exchange's passages."""

    question: TranslatedText
    answer: TranslatedText
    context: tuple[TranslatedText, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question, the chatbot's answer, and the context to judge it against.

    ``language`` is an ISO 639-1 code that the sender states, or None to have it identified.
    ``translation`` is the exchange in English where it was translated first (paper, VI-A).
    ``published_documents`` are documents of the deployment's own store that the context names. They alone
    prove that an answer is a quotation, which may be sent
    (:func:`scoring.quotation.quoted_document.quoted_document`): what the context says may be the chatbot's
    own.
    """

    question: str
    answer: str
    context: tuple[Passage, ...] = ()
    language: str | None = None
    translation: Translation | None = None
    published_documents: tuple[PublishedDocument, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a feature has its value: a span of the answer, ``answer[start:end] == text``.

    ``kind`` is a stable code such as ``undefined_component``; ``document_id`` names the
    document that the span was found in, or None.
    """

    kind: str
    text: str
    start: int
    end: int
    document_id: str | None = None


@dataclass(frozen=True, slots=True)
class FeatureValue:
    """One feature's outcome: a value in [0, 1], or None where it does not apply."""

    name: str
    value: float | None
    evidence: tuple[Evidence, ...] = ()


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class LoneSurrogateError(ValueError):
    """A text holds half of a character (a lone surrogate); the message names the text and quotes nothing."""


def is_encodable(text: str) -> bool:
    """Say whether all characters are whole: half of one (a lone surrogate) cannot be encoded."""
    return not _LONE_SURROGATE.search(text)


def check_encodable(exchange: Exchange) -> None:
    """Raise LoneSurrogateError where a text of the exchange cannot be encoded, and so not be parsed."""
    for name, text in _named_texts(exchange):
        if not is_encodable(text):
            raise LoneSurrogateError(f"the {name} holds half of a character (a lone surrogate)")


def _named_texts(exchange: Exchange) -> Iterator[tuple[str, str]]:
    yield "question", exchange.question
    yield "answer", exchange.answer
    for passage in exchange.context:
        yield "context", passage.text
        yield "title of a passage", passage.title or ""
    if translation := exchange.translation:
        yield "translated question", translation.question.text
        yield "translated answer", translation.answer.text
        for each in translation.context:
            yield "translated context", each.text
