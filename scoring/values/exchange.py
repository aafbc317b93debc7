"""The scorer's input and its parts: exchanges, passages, translations, evidence, feature values."""

import re
from dataclasses import dataclass
from enum import StrEnum

#: The ends of the scale of scores and ratings.
MIN_SCORE, MAX_SCORE = 1.0, 5.0
#: A person's rating or a judge's score says from here that an answer is true (4: with a harmless detail), and
#: up to there that it is untrue (2: mostly).
MIN_TRUE_RATING, MAX_UNTRUE_RATING = 4, 2


class MessageType(StrEnum):
    """The kind of question that the user asked (paper, section IV-D, "Message Types")."""

    ERROR = "error"
    GENERAL = "general"
    REASONING = "reasoning"
    INSTRUCTION = "instruction"
    BINARY = "binary"
    ACTION = "action"
    UNSPECIFIED = "unspecified"


class RefusalKind(StrEnum):
    """How far an answer says that it has no answer."""

    NONE = "not"
    PARTIAL = "and_answers"
    FULL = "purely"


class Decision(StrEnum):
    """What happens to an answer: sent to the customer, reviewed by a person, or not sent at all."""

    AUTO_SEND = "auto_send"
    REVIEW = "review"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a help document that the chatbot was given, or that was retrieved for the answer.

    ``score``: the retrieval score. ``version``: the document's version where it comes from the store.
    ``offset``: where the text starts in the document. ``url``: a link for readers; it is not scored.
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
        """The title, which defines components, an empty line, and the text."""
        return f"{self.title}\n\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class PublishedDocument:
    """The current version of a whole document in the deployment's store.

    ``auto_send``: its publisher's mark that all of it may be sent in reply to a question that is its title.
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
    """A text in English and its segments in order."""

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
    """A question, the chatbot's answer, and the context to score it against.

    ``language``: the ISO 639-1 code that the sender states; None to identify it. ``translation``: the
    exchange in English, where it was translated first (paper, VI-A). ``published_documents``: documents of
    the deployment's store that the context names. Only these can prove a quotation
    (:func:`scoring.quotation.quoted_document.quoted_document`), since the context may be the chatbot's own
    words.
    """

    question: str
    answer: str
    context: tuple[Passage, ...] = ()
    language: str | None = None
    translation: Translation | None = None
    published_documents: tuple[PublishedDocument, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span of the answer that explains a feature's value: ``answer[start:end] == text``.

    ``kind`` is a stable code such as ``undefined_component``; ``document_id`` is the document in which the
    span was found, if any.
    """

    kind: str
    text: str
    start: int
    end: int
    document_id: str | None = None


@dataclass(frozen=True, slots=True)
class FeatureValue:
    """The result of one feature: a value in [0, 1], or None where it is not applicable."""

    name: str
    value: float | None
    evidence: tuple[Evidence, ...] = ()


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class LoneSurrogateError(ValueError):
    """A text contains a lone surrogate; the message names the text and quotes nothing."""


def is_encodable(text: str) -> bool:
    """Return whether a text has no lone surrogates, which UTF-8 cannot encode."""
    return not _LONE_SURROGATE.search(text)


def check_encodable(exchange: Exchange) -> None:
    """Raise LoneSurrogateError where a text of the exchange cannot be encoded, and so not be parsed."""
    texts = [("question", exchange.question), ("answer", exchange.answer)]
    for passage in exchange.context:
        texts += [("context", passage.text), ("title of a passage", passage.title or "")]
    if translation := exchange.translation:
        texts += [
            ("translated question", translation.question.text),
            ("translated answer", translation.answer.text),
            *(("translated context", translated.text) for translated in translation.context),
        ]
    for name, text in texts:
        if not is_encodable(text):
            raise LoneSurrogateError(f"the {name} holds half of a character (a lone surrogate)")
