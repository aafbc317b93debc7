"""A cross-encoder in ONNX, its tokenizer, and the description of the folder that holds them."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from scoring.verifier.verifying import VerifierInput, VerifierPrediction, VerifierResult, VerifierUnavailable

CONFIG_FILE = "verifier.json"
_TRANSFORMERS_CONFIG_FILE = "config.json"

ModelLabel = Literal["supported", "contradicted", "absent"]

# What models of natural language inference call the three, in small letters.
_LABELS: Mapping[str, ModelLabel] = {
    "entailment": "supported",
    "supported": "supported",
    "contradiction": "contradicted",
    "contradicted": "contradicted",
    "neutral": "absent",
    "absent": "absent",
    "not_entailment": "absent",
    "unsupported": "absent",
}


class VerifierConfig(BaseModel):
    """How a model is asked and how its logits are read.

    ``labels``: what its logits stand for, in their order; a model of two labels knows no contradiction.
    ``first``: which text of a pair comes first: a model of natural language inference reads the passage
    (its premise) first. ``between``: what stands between the question and the claim; None where the model
    is not told the question. ``most_tokens``: the longest pair; of longer ones the longer text is cut.
    ``temperatures``: by language, what the logits are divided by before they become probabilities.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    labels: tuple[ModelLabel, ...]
    first: Literal["passage", "claim"] = "passage"
    between: str | None = None
    most_tokens: Annotated[int, Field(ge=16, le=8192)] = 256
    temperatures: Mapping[str, Annotated[float, Field(gt=0)]] = {}

    @model_validator(mode="after")
    def _has_supported_label(self) -> Self:
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


def read_config(folder: Path) -> VerifierConfig:
    """Read ``verifier.json``, or, where there is none, the labels of a ``config.json`` of transformers.

    Raises:
        ValueError: neither tells what the logits stand for.
        OSError: neither can be read.
    """
    own = folder / CONFIG_FILE
    if own.exists():
        return VerifierConfig.model_validate_json(own.read_bytes())
    others = folder / _TRANSFORMERS_CONFIG_FILE
    if not others.exists():
        raise FileNotFoundError(f"there is neither {CONFIG_FILE} nor {_TRANSFORMERS_CONFIG_FILE}")
    told = TypeAdapter(dict[str, Any]).validate_json(others.read_bytes())
    names = TypeAdapter(dict[int, str]).validate_python(told.get("id2label"))
    return VerifierConfig.model_validate({"labels": [_model_label(names[place]) for place in sorted(names)]})


def _model_label(name: str) -> ModelLabel:
    try:
        return _LABELS[name.casefold()]
    except KeyError as error:
        raise ValueError(f"{name!r} is no label that is known") from error


MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"

# A batch cannot be ended: the fewer pairs, the closer the time limit is kept. On one core more gain nothing:
# a model of 12 layers took 24 to 26 ms a pair in batches of 1, 2, 4 and 8.
_BATCH_SIZE = 2

_MAX_REASON_CHARACTERS = 200

FloatArray = npt.NDArray[np.float32]


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
        config: VerifierConfig,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._config = config
        self._clock = clock
        self._inputs = frozenset(given.name for given in session.get_inputs())
        if not self._inputs <= {"input_ids", "attention_mask", "token_type_ids"}:
            raise ValueError("other inputs than token ids, their mask and their types")
        tokenizer.enable_truncation(config.most_tokens, strategy="longest_first")

    def verify(
        self, inputs: Sequence[VerifierInput], language: str, timeout_seconds: float
    ) -> VerifierResult:
        """Return opinions on claims of one answer; no batch begins when ``seconds`` are over.

        Raises:
            ValueError: the model gives no numbers for a pair.
            Exception: it fails on one.
        """
        began = self._clock()
        opinions: list[VerifierPrediction | None] = [None] * len(inputs)
        encodings = self._encode(inputs)
        order = sorted(range(len(inputs)), key=lambda place: len(encodings[place].ids))
        for start in range(0, len(order), _BATCH_SIZE):
            if self._clock() - began >= timeout_seconds:
                break
            places = order[start : start + _BATCH_SIZE]
            logits = self._logits([encodings[place] for place in places])
            for place, opinion in zip(places, self._predictions(logits, language), strict=True):
                opinions[place] = opinion
        return VerifierResult(tuple(opinions), self._clock() - began)

    def check(self) -> None:
        """Ask about the longest pair.

        Raises:
            ValueError: the model gives other logits than its description says.
            Exception: the model cannot read so many tokens, or not this tokenizer's.
        """
        longest = VerifierInput("", "a", "a " * self._config.most_tokens)
        logits = self._logits(self._encode([longest]))
        if logits.shape != (1, len(self._config.labels)):
            raise ValueError("other logits than labels")

    def _encode(self, inputs: Sequence[VerifierInput]) -> list[Any]:
        texts = [self._config.texts(each.question, each.claim, each.passage) for each in inputs]
        # Not as a batch, for which the tokenizer would take as many threads as there are processors.
        return [self._tokenizer.encode(*pair) for pair in texts]

    def _logits(self, encodings: Sequence[Any]) -> FloatArray:
        longest = max(len(encoding.ids) for encoding in encodings)
        inputs = {
            "input_ids": _padded([encoding.ids for encoding in encodings], longest),
            "attention_mask": _padded([encoding.attention_mask for encoding in encodings], longest),
            "token_type_ids": _padded([encoding.type_ids for encoding in encodings], longest),
        }
        given = {name: values for name, values in inputs.items() if name in self._inputs}
        return np.asarray(self._session.run(None, given)[0], np.float32)

    def _predictions(self, logits: FloatArray, language: str) -> list[VerifierPrediction]:
        if not np.isfinite(logits).all():
            raise ValueError("logits that are no numbers")
        labels = self._config.labels
        scaled = logits / self._config.temperatures.get(language, 1.0)
        powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        probabilities = powers / powers.sum(axis=1, keepdims=True)
        return [
            VerifierPrediction(
                **{
                    name: float(sum(row[place] for place, label in enumerate(labels) if label == name))
                    for name in VerifierPrediction.__slots__
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
        told = f"a verifier needs pip install 'truthgate[verifier]': {_error_summary(error)}"
        raise VerifierUnavailable("verifier_not_installed", told) from error
    options = onnxruntime.SessionOptions()
    # More threads would take the cores from the other scoring processes.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        (folder / MODEL_FILE).stat()  # onnxruntime says less clearly what is missing
        description = read_config(folder)
        tokenizer = tokenizers.Tokenizer.from_str((folder / TOKENIZER_FILE).read_text("utf-8"))
        session = onnxruntime.InferenceSession(
            str(folder / MODEL_FILE), options, providers=["CPUExecutionProvider"]
        )
        verifier = OnnxVerifier(session, tokenizer, description)
        verifier.check()
    # Neither library has a class of its own for what it cannot read.
    except Exception as error:
        told = f"no verifier can be opened in {folder}: {_error_summary(error)}"
        raise VerifierUnavailable("verifier_unreadable", told) from error
    return verifier


def _error_summary(error: Exception) -> str:
    """Say in one short line what is wrong with a folder; its files hold no text of customers."""
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{Path(error.filename).name} is missing"
    return shorten(f"{type(error).__name__}: {error}", _MAX_REASON_CHARACTERS, placeholder=" ...")


def _padded(rows: Sequence[Sequence[int]], length: int) -> npt.NDArray[np.int64]:
    # What stands in the padding does not matter: the mask leaves it out.
    made = np.zeros((len(rows), length), np.int64)
    for place, row in enumerate(rows):
        made[place, : len(row)] = row
    return made
