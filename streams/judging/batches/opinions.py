"""The lines of opinions: which answer each is on, without a word of it."""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from schemas.records import ChatbotAnswer, Identifier
from scoring.judges.opinion_json import OpinionForm
from scoring.values.opinion import Opinion

_BYTES = 16


class AnswerKey(NamedTuple):
    """An answer's id and the hash of its question and answer.

    Files in two languages may have the same ids, and an answer that was changed is another one.
    """

    answer_id: str
    answer_hash: str

    @classmethod
    def of(cls, answer: ChatbotAnswer) -> AnswerKey:
        """Return the key of an answer."""
        digest = blake2b(digest_size=_BYTES)
        for text in (answer.question, answer.answer):
            content = text.encode("utf-8", "surrogatepass")
            digest.update(len(content).to_bytes(8, "little") + content)
        return cls(answer.answer_id, digest.hexdigest())


class OpinionLine(BaseModel):
    """One line: the answer, and the opinion in its strict and versioned form."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    answer_id: Identifier
    answer_hash: Annotated[str, Field(pattern=f"^[0-9a-f]{{{2 * _BYTES}}}$")]
    opinion: OpinionForm

    @property
    def key(self) -> AnswerKey:
        """The answer that it is on."""
        return AnswerKey(self.answer_id, self.answer_hash)


def opinion_line(key: AnswerKey, opinion: Opinion) -> dict[str, Any]:
    """Return a line as JSON values."""
    return {**key._asdict(), "opinion": OpinionForm.of(opinion).model_dump(mode="json")}
