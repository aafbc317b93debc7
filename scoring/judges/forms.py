"""The forms of replies, and their JSON schemas.

Their fields are in the order in which a model should write them, since each word rests on those before.
"""

import json
from enum import StrEnum
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from scoring.judges.requests import ReplySchema
from scoring.values.exchange import MAX_SCORE, MIN_SCORE
from scoring.values.opinion import Label, Mistake

# Of lists and texts: far more than a reply that keeps to its prompt has.
_MANY, _LONG = 64, 8_000


class ReplyForm(BaseModel):
    """A reply: every field is there, of its own type, and no other one."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


_Share = Annotated[float, Field(ge=0, le=1)]
_Text = Annotated[str, Field(max_length=_LONG)]
_Number = Annotated[int, Field(ge=1, le=2 * _MANY, description="the number that it has in the data")]
_Sure = Annotated[_Share, Field(description="how sure you are of this, from 0 (a guess) to 1 (certain)")]
_Score = Annotated[
    float, Field(ge=MIN_SCORE, le=MAX_SCORE, description="how true the answer is, from 1 to 5")
]


class WrongWords(ReplyForm):
    """Words of the answer that are wrong."""

    words: Annotated[_Text, Field(description="the wrong words, copied exactly from the answer")]
    kind: Mistake


_InvalidFieldError = Annotated[
    tuple[WrongWords, ...], Field(max_length=_MANY, description="the mistakes, if any")
]


class ScoredReply(ReplyForm):
    """A reply that has a score and names mistakes."""

    confidence: _Sure
    score: _Score
    wrong: _InvalidFieldError


class _Labelled(ReplyForm):
    label: Label


class VerdictReply(ScoredReply, _Labelled):
    """The label at once (002, section 3.2.1)."""


class Rationale(ReplyForm):
    """What leads to a decision, written before it."""

    why: Annotated[_Text, Field(description="why, in a few sentences")]


class _Refuses(ReplyForm):
    refuses: Annotated[bool, Field(description="whether the answer avoids the question")]


class RefusalReply(ScoredReply, _Refuses, Rationale):
    """Whether the answer avoids the question (002, Figure 4, first step); its score is of what it says."""


class Relation(StrEnum):
    """How an answer relates to the reference (002, section 3.2.2)."""

    EQUIVALENT = "equivalent"
    INCORRECT = "incorrect"
    MISSING = "missing"
    EXCESSIVE = "excessive"


class _Relates(ReplyForm):
    relation: Relation


class ComparisonReply(ScoredReply, _Relates, Rationale):
    """How the answer relates to the reference (002, Figure 4, second step)."""


class _Changes(ReplyForm):
    changed: Annotated[bool, Field(description="whether the meaning is changed")]


class MeaningReply(ScoredReply, _Changes, Rationale):
    """Whether what is missing or excessive changes the meaning (002, Figure 4, third step)."""


class ReasoningStep(ReplyForm):
    """One step of reasoning (002, Figure 5)."""

    question: Annotated[_Text, Field(description="the question that you ask yourself")]
    judgement: Annotated[_Text, Field(description="your answer to it")]
    explanation: Annotated[_Text, Field(description="why, in a sentence")]
    confidence: _Sure


class _Chained(ReplyForm):
    steps: Annotated[tuple[ReasoningStep, ...], Field(min_length=1, max_length=_MANY)]
    explanation: Annotated[_Text, Field(description="the rationale of the label, in a sentence")]


class ChainReply(VerdictReply, _Chained):
    """Reasoning in steps of the model's own, then the label (002, section 3.2.3)."""


class _Dimensions(ReplyForm):
    consistent: Annotated[bool, Field(description="whether all of the answer appears in the reference")]
    relevant: Annotated[bool, Field(description="whether the answer addresses the question")]


class EvaluationReply(ScoredReply, _Dimensions):
    """The two dimensions of factual correctness (004, section I)."""


class ArguedReply(EvaluationReply, Rationale):
    """The two dimensions, with the reason (004, sections II-B4 and 5)."""


class Thoughts(ReplyForm):
    """Notes on the units of the reference (004, section II-B2)."""

    thoughts: Annotated[
        tuple[_Text, ...],
        Field(max_length=_MANY, description="your notes, unit by unit, each a sentence or two"),
    ]


class ReasonedReply(EvaluationReply, Thoughts):
    """The two dimensions after a chain of thoughts (004, section II-B2)."""


class AnswerStatement(ReplyForm):
    """One claim, or fact, of an answer."""

    statement: Annotated[_Text, Field(min_length=1, description="the statement, a full sentence")]
    words: Annotated[_Text, Field(description="the words that make it, copied exactly from the answer")]


class StatementsReply(ReplyForm):
    """An answer taken apart (001, "Faithfulness"; 003, section 5.2.4)."""

    statements: Annotated[tuple[AnswerStatement, ...], Field(max_length=2 * _MANY)]
    confidence: Annotated[_Share, Field(description="how sure you are that none is left out, from 0 to 1")]


class SupportReply(ReplyForm):
    """Whether the reference supports a fact (003, section 5.2.4)."""

    why: Annotated[_Text, Field(description="why, in a sentence")]
    supported: bool
    confidence: _Sure
    kind: Annotated[Mistake | None, Field(description="the kind of mistake, null if supported")]


class Numbered(ReplyForm):
    """A part of a reply about one of several things."""

    number: _Number


class NumberedSupport(SupportReply, Numbered):
    """The same of one of several."""


class SupportsReply(ReplyForm):
    """Which statements the reference supports (001, "Faithfulness")."""

    statements: Annotated[tuple[NumberedSupport, ...], Field(max_length=2 * _MANY)]


class GeneratedQuestionsReply(ReplyForm):
    """Questions that an answer answers (001, "Answer Relevance")."""

    questions: Annotated[tuple[_Text, ...], Field(min_length=1, max_length=_MANY)]
    noncommittal: bool


class QuestionLikeness(Numbered):
    """How much a question asks for the same as another."""

    alike: Annotated[_Share, Field(description="how much it asks for the same, from 0 to 1")]


class LikenessesReply(ReplyForm):
    """How much each of several questions does."""

    questions: Annotated[tuple[QuestionLikeness, ...], Field(max_length=_MANY)]
    confidence: _Sure


class QuizQuestion(ReplyForm):
    """A question with the reply that its source gives."""

    question: Annotated[_Text, Field(min_length=1)]
    reply: Annotated[_Text, Field(min_length=1, description="the reply, as short as possible")]
    weight: Annotated[_Share, Field(description="how much it matters, from 0 to 1")]
    words: Annotated[_Text, Field(description="the words that tell the reply, copied exactly")]


class QuizReply(ReplyForm):
    """Questions on a text (003, section 5.2.5)."""

    questions: Annotated[tuple[QuizQuestion, ...], Field(max_length=_MANY)]
    confidence: Annotated[_Share, Field(description="how sure you are that none is left out, from 0 to 1")]


class QuizAnswer(Numbered):
    """The reply that a text gives to a question, if any."""

    answerable: bool
    reply: _Text
    confidence: _Sure


class QuizAnswersReply(ReplyForm):
    """Those to several questions."""

    replies: Annotated[tuple[QuizAnswer, ...], Field(max_length=2 * _MANY)]


class ReplyPair(Numbered):
    """Whether two replies mean the same."""

    same: bool
    confidence: _Sure


class PairsReply(ReplyForm):
    """Which of several do."""

    pairs: Annotated[tuple[ReplyPair, ...], Field(max_length=2 * _MANY)]


# What every endpoint with structured output takes (OpenAI's strict mode has the fewest).
_SCHEMA_KEYS = {
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "anyOf",
    "description",
}
_INDENT = "  "


@cache
def reply_schema(form: type[ReplyForm]) -> ReplySchema:
    """Return the schema of a form without references and without limits."""
    return ReplySchema(
        form.__name__.removesuffix("Reply"), json.dumps(_plain_schema(form), ensure_ascii=True)
    )


@cache
def render_form(form: type[ReplyForm]) -> str:
    """Return a form as it is shown to a model: the object with a description in place of each value."""
    return _render(_plain_schema(form), "")


def _plain_schema(form: type[ReplyForm]) -> dict[str, Any]:
    full = form.model_json_schema()
    return _simplified(full, full.get("$defs", {}))


def _simplified(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if reference := schema.get("$ref"):
        named = definitions[reference.rsplit("/", 1)[-1]]
        description = {"description": schema["description"]} if "description" in schema else {}
        return _simplified(named, definitions) | description
    kept = {key: value for key, value in schema.items() if key in _SCHEMA_KEYS}
    if "properties" in kept:
        fields = kept["properties"].items()
        kept["properties"] = {name: _simplified(field, definitions) for name, field in fields}
        # Docstrings are for readers of the code.
        kept.pop("description", None)
    if "enum" in kept:
        kept.pop("description", None)
    if "items" in kept:
        kept["items"] = _simplified(kept["items"], definitions)
    if "anyOf" in kept:
        kept["anyOf"] = [_simplified(choice, definitions) for choice in kept["anyOf"]]
    return kept


def _render(schema: dict[str, Any], indent: str) -> str:
    within = indent + _INDENT
    if schema.get("type") == "object":
        fields = [f'{within}"{name}": {_render(each, within)}' for name, each in schema["properties"].items()]
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
    if schema.get("type") == "array":
        return f"[{_render(schema['items'], indent)}, ...]{_description_suffix(schema)}"
    return f"<{_type_text(schema)}{_description_suffix(schema)}>"


def _description_suffix(schema: dict[str, Any]) -> str:
    return f": {schema['description']}" if "description" in schema else ""


def _type_text(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(map(_type_text, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(json.dumps(choice) for choice in schema["enum"])
    return {"boolean": "true or false", "string": "text", "null": "null"}.get(schema["type"], "number")
