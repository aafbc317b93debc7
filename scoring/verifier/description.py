"""What the folder of a verifier says of its model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

FILE = "verifier.json"
_TRANSFORMERS_FILE = "config.json"

Label = Literal["supported", "contradicted", "absent"]

# What models of natural language inference call the three, in small letters.
_LABELS: Mapping[str, Label] = {
    "entailment": "supported",
    "supported": "supported",
    "contradiction": "contradicted",
    "contradicted": "contradicted",
    "neutral": "absent",
    "absent": "absent",
    "not_entailment": "absent",
    "unsupported": "absent",
}


class Description(BaseModel):
    """How a model is asked and how its logits are read.

    ``labels``: what its logits stand for, in their order; a model of two labels knows no contradiction.
    ``first``: which text of a pair comes first: a model of natural language inference reads the passage
    (its premise) first. ``between``: what stands between the question and the claim; None where the model
    is not told the question. ``most_tokens``: the longest pair; of longer ones the longer text is cut.
    ``temperatures``: by language, what the logits are divided by before they become probabilities.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    labels: tuple[Label, ...]
    first: Literal["passage", "claim"] = "passage"
    between: str | None = None
    most_tokens: Annotated[int, Field(ge=16, le=8192)] = 256
    temperatures: Mapping[str, Annotated[float, Field(gt=0)]] = {}

    @model_validator(mode="after")
    def _tells_support(self) -> Self:
        if "supported" not in self.labels:
            raise ValueError("no label is 'supported'")
        return self

    def texts(self, question: str, claim: str, passage: str) -> tuple[str, str]:
        """Return the two texts that the model is given; of a long question the beginning."""
        # Of a pair that is too long the end of the longer text is cut, and that is where the claim stands. A
        # token has some four characters, so the question takes a quarter of the pair at most.
        asked = question[: self.most_tokens]
        said = claim if self.between is None else f"{asked}{self.between}{claim}"
        return (said, passage) if self.first == "claim" else (passage, said)


def read_description(folder: Path) -> Description:
    """Read ``verifier.json``, or, where there is none, the labels of a ``config.json`` of transformers.

    Raises:
        ValueError: neither tells what the logits stand for.
        OSError: neither can be read.
    """
    own = folder / FILE
    if own.exists():
        return Description.model_validate_json(own.read_bytes())
    others = folder / _TRANSFORMERS_FILE
    if not others.exists():
        raise FileNotFoundError(f"there is neither {FILE} nor {_TRANSFORMERS_FILE}")
    told = TypeAdapter(dict[str, Any]).validate_json(others.read_bytes())
    names = TypeAdapter(dict[int, str]).validate_python(told.get("id2label"))
    return Description.model_validate({"labels": [_label(names[place]) for place in sorted(names)]})


def _label(name: str) -> Label:
    try:
        return _LABELS[name.casefold()]
    except KeyError as error:
        raise ValueError(f"{name!r} is no label that is known") from error
