"""The forms of replies, and their JSON schemas.

Their fields stand in the order in which a model should write them, since each word rests on those before.
"""

import json
from enum import StrEnum
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from scoring.judges.requests import ReplySchema
from scoring.values.opinion import Label, Mistake
from scoring.values.types import HIGHEST, LOWEST

# Of lists and texts: far more than a reply that keeps to its prompt has.
_MANY, _LONG = 64, 8_000


class Form(BaseModel):
    """A reply: every field is there, of its own type, and no other one."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


_Share = Annotated[float, Field(ge=0, le=1)]
_Text = Annotated[str, Field(max_length=_LONG)]
_Number = Annotated[int, Field(ge=1, le=2 * _MANY, description="the number that it has in the data")]
_Sure = Annotated[_Share, Field(description="how sure you are of this, from 0 (a guess) to 1 (certain)")]
_Score = Annotated[float, Field(ge=LOWEST, le=HIGHEST, description="how true the answer is, from 1 to 5")]


class Wrong(Form):
    """Words of the answer that are wrong."""

    words: Annotated[_Text, Field(description="the wrong words, copied exactly from the answer")]
    kind: Mistake


_Wrong = Annotated[tuple[Wrong, ...], Field(max_length=_MANY, description="the mistakes, if any")]


class Scored(Form):
    """A reply that has a score and names mistakes."""

    confidence: _Sure
    score: _Score
    wrong: _Wrong


class _Labelled(Form):
    label: Label


class Verdict(Scored, _Labelled):
    """The label at once (002, section 3.2.1)."""


class Why(Form):
    """What leads to a decision, written before it."""

    why: Annotated[_Text, Field(description="why, in a few sentences")]


class _Refuses(Form):
    refuses: Annotated[bool, Field(description="whether the answer avoids the question")]


class Refusal(Scored, _Refuses, Why):
    """Whether the answer avoids the question (002, Figure 4, first step); its score is of what it says."""


class Relation(StrEnum):
    """How an answer relates to the reference (002, section 3.2.2)."""

    EQUIVALENT = "equivalent"
    INCORRECT = "incorrect"
    MISSING = "missing"
    EXCESSIVE = "excessive"


class _Relates(Form):
    relation: Relation


class Comparison(Scored, _Relates, Why):
    """How the answer relates to the reference (002, Figure 4, second step)."""


class _Changes(Form):
    changed: Annotated[bool, Field(description="whether the meaning is changed")]


class Meaning(Scored, _Changes, Why):
    """Whether what is missing or excessive changes the meaning (002, Figure 4, third step)."""


class Step(Form):
    """One step of reasoning (002, Figure 5)."""

    question: Annotated[_Text, Field(description="the question that you ask yourself")]
    judgement: Annotated[_Text, Field(description="your answer to it")]
    explanation: Annotated[_Text, Field(description="why, in a sentence")]
    confidence: _Sure


class _Chained(Form):
    steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=_MANY)]
    explanation: Annotated[_Text, Field(description="the rationale of the label, in a sentence")]


class Chain(Verdict, _Chained):
    """Reasoning in steps of the model's own, then the label (002, section 3.2.3)."""


class _Dimensions(Form):
    consistent: Annotated[bool, Field(description="whether all of the answer appears in the reference")]
    relevant: Annotated[bool, Field(description="whether the answer addresses the question")]


class Evaluation(Scored, _Dimensions):
    """The two dimensions of factual correctness (004, section I)."""


class Argued(Evaluation, Why):
    """The two dimensions, with the reason (004, sections II-B4 and 5)."""


class Thoughts(Form):
    """Notes on the units of the reference (004, section II-B2)."""

    thoughts: Annotated[
        tuple[_Text, ...],
        Field(max_length=_MANY, description="your notes, unit by unit, each a sentence or two"),
    ]


class Reasoned(Evaluation, Thoughts):
    """The two dimensions after a chain of thoughts (004, section II-B2)."""


class Statement(Form):
    """One claim, or fact, of an answer."""

    statement: Annotated[_Text, Field(min_length=1, description="the statement, a full sentence")]
    words: Annotated[_Text, Field(description="the words that make it, copied exactly from the answer")]


class Statements(Form):
    """An answer taken apart (001, "Faithfulness"; 003, section 5.2.4)."""

    statements: Annotated[tuple[Statement, ...], Field(max_length=2 * _MANY)]
    confidence: Annotated[_Share, Field(description="how sure you are that none is left out, from 0 to 1")]


class Support(Form):
    """Whether the reference supports a fact (003, section 5.2.4)."""

    why: Annotated[_Text, Field(description="why, in a sentence")]
    supported: bool
    confidence: _Sure
    kind: Annotated[Mistake | None, Field(description="the kind of mistake, null if supported")]


class _Numbered(Form):
    number: _Number


class NumberedSupport(Support, _Numbered):
    """The same of one of several."""


class Supports(Form):
    """Which statements the reference supports (001, "Faithfulness")."""

    statements: Annotated[tuple[NumberedSupport, ...], Field(max_length=2 * _MANY)]


class Asked(Form):
    """Questions that an answer answers (001, "Answer Relevance")."""

    questions: Annotated[tuple[_Text, ...], Field(min_length=1, max_length=_MANY)]
    noncommittal: bool


class Likeness(_Numbered):
    """How much a question asks for the same as another."""

    alike: Annotated[_Share, Field(description="how much it asks for the same, from 0 to 1")]


class Likenesses(Form):
    """How much each of several questions does."""

    questions: Annotated[tuple[Likeness, ...], Field(max_length=_MANY)]
    confidence: _Sure


class Quizzed(Form):
    """A question with the reply that its source gives."""

    question: Annotated[_Text, Field(min_length=1)]
    reply: Annotated[_Text, Field(min_length=1, description="the reply, as short as possible")]
    weight: Annotated[_Share, Field(description="how much it matters, from 0 to 1")]
    words: Annotated[_Text, Field(description="the words that tell the reply, copied exactly")]


class Quiz(Form):
    """Questions on a text (003, section 5.2.5)."""

    questions: Annotated[tuple[Quizzed, ...], Field(max_length=_MANY)]
    confidence: Annotated[_Share, Field(description="how sure you are that none is left out, from 0 to 1")]


class Answered(_Numbered):
    """The reply that a text gives to a question, if any."""

    answerable: bool
    reply: _Text
    confidence: _Sure


class Replies(Form):
    """Those to several questions."""

    replies: Annotated[tuple[Answered, ...], Field(max_length=2 * _MANY)]


class Pair(_Numbered):
    """Whether two replies mean the same."""

    same: bool
    confidence: _Sure


class Pairs(Form):
    """Which of several do."""

    pairs: Annotated[tuple[Pair, ...], Field(max_length=2 * _MANY)]


# What every endpoint with structured output takes (OpenAI's strict mode has the fewest).
_KEPT = {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"}
_INDENT = "  "


@cache
def reply_schema(form: type[Form]) -> ReplySchema:
    """Return the schema of a form without references and without limits."""
    return ReplySchema(form.__name__, json.dumps(_plain(form), ensure_ascii=True))


@cache
def described(form: type[Form]) -> str:
    """Return a form as it is shown to a model: the object with a description in place of each value."""
    return _shown(_plain(form), "")


def _plain(form: type[Form]) -> dict[str, Any]:
    full = form.model_json_schema()
    return _reduced(full, full.get("$defs", {}))


def _reduced(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if reference := schema.get("$ref"):
        named = definitions[reference.rsplit("/", 1)[-1]]
        told = {"description": schema["description"]} if "description" in schema else {}
        return _reduced(named, definitions) | told
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    if "properties" in kept:
        fields = kept["properties"].items()
        kept["properties"] = {name: _reduced(field, definitions) for name, field in fields}
        # Docstrings are for whoever reads the code.
        kept.pop("description", None)
    if "enum" in kept:
        kept.pop("description", None)
    if "items" in kept:
        kept["items"] = _reduced(kept["items"], definitions)
    if "anyOf" in kept:
        kept["anyOf"] = [_reduced(choice, definitions) for choice in kept["anyOf"]]
    return kept


def _shown(schema: dict[str, Any], indent: str) -> str:
    within = indent + _INDENT
    if schema.get("type") == "object":
        fields = [f'{within}"{name}": {_shown(each, within)}' for name, each in schema["properties"].items()]
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
    if schema.get("type") == "array":
        return f"[{_shown(schema['items'], indent)}, ...]{_told(schema)}"
    return f"<{_type(schema)}{_told(schema)}>"


def _told(schema: dict[str, Any]) -> str:
    return f": {schema['description']}" if "description" in schema else ""


def _type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(json.dumps(choice) for choice in schema["enum"])
    return {"boolean": "true or false", "string": "text", "null": "null"}.get(schema["type"], "number")
