"""A cross-encoder in ONNX, its tokenizer, and the description of the folder that holds them."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from scoring.verifier.verifying import Asked, NoVerifier, Opinion, Verified

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


MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"

# A batch cannot be ended: the fewer pairs, the closer the time limit is kept. On one core more gain nothing:
# a model of 12 layers took 24 to 26 ms a pair in batches of 1, 2, 4 and 8.
_BATCH = 2

_LONGEST_REASON = 200

Numbers = npt.NDArray[np.float32]


class Session(Protocol):
    """What is used of an onnxruntime session."""

    def get_inputs(self) -> Sequence[Any]:
        """Return the inputs, each with a ``name``."""

    def run(self, names: None, inputs: dict[str, npt.NDArray[np.int64]], /) -> Sequence[Any]:
        """Return the outputs, of which the first is the logits."""


class OnnxVerifier:
    """Asks a model in batches of pairs of about one length, on one thread.

    Args:
        session: of a model with inputs ``input_ids``, ``attention_mask`` and, if it has one,
            ``token_type_ids``; its first output is the logits of each pair.
        tokenizer: one that puts the model's own marks around a pair.
        description: how the model is asked.
        clock: seconds, monotonic.

    Raises:
        ValueError: the model needs other inputs.
    """

    def __init__(
        self,
        session: Session,
        tokenizer: Any,
        description: Description,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._description = description
        self._clock = clock
        self._inputs = frozenset(given.name for given in session.get_inputs())
        if not self._inputs <= {"input_ids", "attention_mask", "token_type_ids"}:
            raise ValueError("other inputs than token ids, their mask and their types")
        tokenizer.enable_truncation(description.most_tokens, strategy="longest_first")

    def verify(self, asked: Sequence[Asked], language: str, seconds: float) -> Verified:
        """Return opinions on claims of one answer; no batch begins when ``seconds`` are over.

        Raises:
            ValueError: the model gives no numbers for a pair.
            Exception: it fails on one.
        """
        began = self._clock()
        opinions: list[Opinion | None] = [None] * len(asked)
        encodings = self._encoded(asked)
        order = sorted(range(len(asked)), key=lambda place: len(encodings[place].ids))
        for start in range(0, len(order), _BATCH):
            if self._clock() - began >= seconds:
                break
            places = order[start : start + _BATCH]
            logits = self._logits([encodings[place] for place in places])
            for place, opinion in zip(places, self._opinions(logits, language), strict=True):
                opinions[place] = opinion
        return Verified(tuple(opinions), self._clock() - began)

    def check(self) -> None:
        """Ask about the longest pair.

        Raises:
            ValueError: the model gives other logits than its description says.
            Exception: the model cannot read so many tokens, or not this tokenizer's.
        """
        longest = Asked("", "a", "a " * self._description.most_tokens)
        logits = self._logits(self._encoded([longest]))
        if logits.shape != (1, len(self._description.labels)):
            raise ValueError("other logits than labels")

    def _encoded(self, asked: Sequence[Asked]) -> list[Any]:
        texts = [self._description.texts(each.question, each.claim, each.passage) for each in asked]
        # Not as a batch, for which the tokenizer would take as many threads as there are processors.
        return [self._tokenizer.encode(*pair) for pair in texts]

    def _logits(self, encodings: Sequence[Any]) -> Numbers:
        longest = max(len(encoding.ids) for encoding in encodings)
        inputs = {
            "input_ids": _padded([encoding.ids for encoding in encodings], longest),
            "attention_mask": _padded([encoding.attention_mask for encoding in encodings], longest),
            "token_type_ids": _padded([encoding.type_ids for encoding in encodings], longest),
        }
        given = {name: values for name, values in inputs.items() if name in self._inputs}
        return np.asarray(self._session.run(None, given)[0], np.float32)

    def _opinions(self, logits: Numbers, language: str) -> list[Opinion]:
        if not np.isfinite(logits).all():
            raise ValueError("logits that are no numbers")
        labels = self._description.labels
        scaled = logits / self._description.temperatures.get(language, 1.0)
        powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        probabilities = powers / powers.sum(axis=1, keepdims=True)
        return [
            Opinion(
                **{
                    name: float(sum(row[place] for place, label in enumerate(labels) if label == name))
                    for name in Opinion.__slots__
                }
            )
            for row in probabilities
        ]


def open_verifier(folder: Path) -> OnnxVerifier:
    """Open the ``model.onnx`` of a folder, with ``tokenizer.json`` and ``verifier.json`` or ``config.json``.

    Raises:
        NoVerifier: it cannot be used.
    """
    try:
        # They are asked for only where a verifier is named.
        import onnxruntime  # noqa: PLC0415
        import tokenizers  # noqa: PLC0415
    except ImportError as error:
        told = f"a verifier needs pip install 'truthgate[verifier]': {_told(error)}"
        raise NoVerifier("verifier_not_installed", told) from error
    options = onnxruntime.SessionOptions()
    # More threads would take the cores from the other scoring processes.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        (folder / MODEL).stat()  # onnxruntime says less clearly what is missing
        description = read_description(folder)
        tokenizer = tokenizers.Tokenizer.from_str((folder / TOKENIZER).read_text("utf-8"))
        session = onnxruntime.InferenceSession(
            str(folder / MODEL), options, providers=["CPUExecutionProvider"]
        )
        verifier = OnnxVerifier(session, tokenizer, description)
        verifier.check()
    # Neither library has a class of its own for what it cannot read.
    except Exception as error:
        told = f"no verifier can be opened in {folder}: {_told(error)}"
        raise NoVerifier("verifier_unreadable", told) from error
    return verifier


def _told(error: Exception) -> str:
    """Say in one short line what is wrong with a folder; its files hold no text of customers."""
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{Path(error.filename).name} is missing"
    return shorten(f"{type(error).__name__}: {error}", _LONGEST_REASON, placeholder=" ...")


def _padded(rows: Sequence[Sequence[int]], length: int) -> npt.NDArray[np.int64]:
    # What stands in the padding does not matter: the mask leaves it out.
    made = np.zeros((len(rows), length), np.int64)
    for place, row in enumerate(rows):
        made[place, : len(row)] = row
    return made
