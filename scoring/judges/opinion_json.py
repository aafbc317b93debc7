"""The JSON form of an opinion, strict and versioned, without any word of the answer."""

from dataclasses import asdict, fields
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scoring.values.exchange import Evidence
from scoring.values.opinion import Label, Mistake, Opinion, UnsureReason, Usage

#: Increase it with every change of the form or its meaning; other versions are not read.
VERSION: Literal[1] = 1

_Count = Annotated[int, Field(ge=0)]


class OpinionUnreadable(ValueError):
    """This is no opinion of ours, or not on this answer; the message quotes nothing of it."""


class _StrictForm(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class WrongWordsForm(_StrictForm):
    """Wrong words of the answer, by their place in it."""

    start: _Count
    end: _Count
    kind: Mistake

    def evidence(self, answer: str) -> Evidence:
        """Return it with the words; raises ValueError where the answer has none at this place."""
        if not self.start < self.end <= len(answer):
            raise ValueError("wrong words are outside the answer")
        return Evidence(self.kind.value, answer[self.start : self.end], self.start, self.end)


class UsageForm(_StrictForm):
    """What the opinion took."""

    requests: _Count
    tokens_in: _Count
    tokens_out: _Count
    seconds: float


class OpinionForm(_StrictForm):
    """An opinion as it is in files, on its own or as a field of another model of pydantic.

    The wrong words are their places and kinds alone, so it takes the answer to read them back.
    """

    version: Literal[1]
    method: str
    models: tuple[str, ...]
    prompt_version: str
    label: Label | None
    confidence: float
    score: float | None
    consistency: float | None
    relevance: float | None
    wrong: tuple[WrongWordsForm, ...]
    mistakes: tuple[Mistake, ...]
    unsure: UnsureReason | None
    shortened: bool
    usage: UsageForm

    @classmethod
    def of(cls, opinion: Opinion) -> Self:
        """Return the form of an opinion; raises ValueError for evidence or numbers that no judge gives."""
        wrong = tuple(
            WrongWordsForm(start=each.start, end=each.end, kind=Mistake(each.kind)) for each in opinion.wrong
        )
        forms = {"version": VERSION, "wrong": wrong, "usage": UsageForm(**asdict(opinion.usage))}
        return cls(**{each.name: getattr(opinion, each.name) for each in fields(opinion)} | forms)

    def opinion(self, answer: str) -> Opinion:
        """Return the opinion on this answer.

        Raises:
            OpinionUnreadable: its parts contradict each other, or it is on another answer.
        """
        try:
            wrong = tuple(each.evidence(answer) for each in self.wrong)
            values = dict(self) | {"wrong": wrong, "usage": Usage(**dict(self.usage))}
            del values["version"]
            return Opinion(**values)
        except ValueError as error:
            raise OpinionUnreadable(str(error)) from None


def write_opinion(opinion: Opinion) -> str:
    """Return an opinion as one line of JSON, without a word of the answer.

    Raises:
        ValueError: it holds evidence, numbers or characters that no judge gives.
    """
    return OpinionForm.of(opinion).model_dump_json()


def read_opinion(text: str | bytes, answer: str) -> Opinion:
    """Return the opinion on this answer from its JSON.

    Raises:
        OpinionUnreadable: it is not of this form and version, or is on another answer.
    """
    try:
        form = OpinionForm.model_validate_json(text)
    except ValidationError:
        raise OpinionUnreadable("not an opinion of this version") from None
    return form.opinion(answer)
