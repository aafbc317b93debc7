"""The interface of a verifier, and a cross-encoder in ONNX with its tokenizer and configuration."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator


@dataclass(frozen=True, slots=True)
class VerifierInput:
    """One claim of an answer, its question, and a passage that may support it."""

    question: str
    claim: str
    passage: str


@dataclass(frozen=True, slots=True)
class VerifierPrediction:
    """The probabilities that the passage supports the claim, contradicts it, or does neither; in sum 1."""

    supported: float
    contradicted: float
    absent: float


@dataclass(frozen=True, slots=True)
class VerifierResult:
    """One prediction per input, in order; None for inputs that exceeded the timeout."""

    predictions: tuple[VerifierPrediction | None, ...]
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether every input has a prediction."""
        return None not in self.predictions


class VerifierUnavailable(RuntimeError):
    """The configured model cannot be used; ``reason`` is a stable code, the message one line.

    ``verifier_not_installed``: its packages are missing. ``verifier_unreadable``: a file is missing or
    invalid, or the files do not match.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


CONFIG_FILE = "verifier.json"
_TRANSFORMERS_CONFIG_FILE = "config.json"

ModelLabel = Literal["supported", "contradicted", "absent"]

# The labels of models of natural language inference, casefolded.
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
    """How a model's inputs are built and its logits read.

    ``labels``: those of the logits, in order; a model with two labels predicts no contradiction. ``first``:
    which text of a pair comes first: models of natural language inference read the passage (their premise)
    first. ``between``: the separator of question and claim; None where the model does not get the question.
    ``max_tokens``: the maximum length of a pair; of longer ones the longer text is truncated.
    ``temperatures``: divisors of the logits, by language.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    labels: tuple[ModelLabel, ...]
    first: Literal["passage", "claim"] = "passage"
    between: str | None = None
    max_tokens: Annotated[int, Field(ge=16, le=8192)] = 256
    temperatures: Mapping[str, Annotated[float, Field(gt=0)]] = {}

    @model_validator(mode="after")
    def _has_supported_label(self) -> Self:
        if "supported" not in self.labels:
            raise ValueError("no label is 'supported'")
        return self

    def texts(self, question: str, claim: str, passage: str) -> tuple[str, str]:
        """Return the two texts for the model, with the question truncated."""
        # Truncation cuts the end of the longer text, where the claim is. A token has some four characters, so
        # the question takes at most a quarter of the pair.
        if self.between is not None:
            claim = f"{question[: self.max_tokens]}{self.between}{claim}"
        return (claim, passage) if self.first == "claim" else (passage, claim)


def read_config(folder: Path) -> VerifierConfig:
    """Read ``verifier.json``, or, without it, the labels of a ``config.json`` of transformers.

    Raises:
        ValueError: the labels are missing or unknown.
        OSError: neither file can be read.
    """
    path = folder / CONFIG_FILE
    if path.exists():
        return VerifierConfig.model_validate_json(path.read_bytes())
    path = folder / _TRANSFORMERS_CONFIG_FILE
    if not path.exists():
        raise FileNotFoundError(f"there is neither {CONFIG_FILE} nor {_TRANSFORMERS_CONFIG_FILE}")
    config = TypeAdapter(dict[str, Any]).validate_json(path.read_bytes())
    names = TypeAdapter(dict[int, str]).validate_python(config.get("id2label"))
    for name in names.values():
        if name.casefold() not in _LABELS:
            raise ValueError(f"{name!r} is no label that is known")
    return VerifierConfig(labels=tuple(_LABELS[names[index].casefold()] for index in sorted(names)))


MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"

# A batch cannot be interrupted: smaller ones keep the timeout better. On one core larger ones gain nothing: a
# model of 12 layers took 24 to 26 ms a pair in batches of 1, 2, 4 and 8.
_BATCH_SIZE = 2

_MAX_REASON_CHARACTERS = 200

FloatArray = npt.NDArray[np.float32]


class OnnxVerifier:
    """Runs a model on one thread in batches of pairs of similar length.

    Args:
        session: of a model with inputs ``input_ids``, ``attention_mask`` and perhaps ``token_type_ids``; its
            first output is the logits of each pair.
        tokenizer: adds the model's special tokens to a pair.
        config: how inputs are built and logits read.
        clock: monotonic seconds.

    Raises:
        ValueError: the model has other inputs.
    """

    def __init__(
        self,
        session: Any,
        tokenizer: Any,
        config: VerifierConfig,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._config = config
        self._clock = clock
        self._inputs = frozenset(each.name for each in session.get_inputs())
        if not self._inputs <= {"input_ids", "attention_mask", "token_type_ids"}:
            raise ValueError("other inputs than token ids, their mask and their types")
        tokenizer.enable_truncation(config.max_tokens, strategy="longest_first")

    def verify(
        self, inputs: Sequence[VerifierInput], language: str, timeout_seconds: float
    ) -> VerifierResult:
        """Return predictions for the claims of one answer; no batch starts after ``timeout_seconds``.

        Raises:
            ValueError: the model's logits are not finite.
            Exception: the model fails.
        """
        began = self._clock()
        predictions: list[VerifierPrediction | None] = [None] * len(inputs)
        encodings = self._encode(inputs)
        order = sorted(range(len(inputs)), key=lambda index: len(encodings[index].ids))
        for start in range(0, len(order), _BATCH_SIZE):
            if self._clock() - began >= timeout_seconds:
                break
            batch = order[start : start + _BATCH_SIZE]
            logits = self._logits([encodings[index] for index in batch])
            for index, prediction in zip(batch, self._predictions(logits, language), strict=True):
                predictions[index] = prediction
        return VerifierResult(tuple(predictions), self._clock() - began)

    def check(self) -> None:
        """Run the model on the longest pair.

        Raises:
            ValueError: the logits do not match the labels.
            Exception: the model fails on so many tokens, or on this tokenizer's.
        """
        longest = VerifierInput("", "a", "a " * self._config.max_tokens)
        logits = self._logits(self._encode([longest]))
        if logits.shape != (1, len(self._config.labels)):
            raise ValueError("other logits than labels")

    def _encode(self, inputs: Sequence[VerifierInput]) -> list[Any]:
        texts = [self._config.texts(each.question, each.claim, each.passage) for each in inputs]
        # Not as a batch, for which the tokenizer would use one thread per processor.
        return [self._tokenizer.encode(*pair) for pair in texts]

    def _logits(self, encodings: Sequence[Any]) -> FloatArray:
        length = max(len(encoding.ids) for encoding in encodings)
        columns = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        inputs = {
            name: np.zeros((len(encodings), length), np.int64) for name in columns if name in self._inputs
        }
        for name, array in inputs.items():
            for row, encoding in enumerate(encodings):
                # The mask excludes the padding, so its content does not matter.
                array[row, : len(encoding.ids)] = getattr(encoding, columns[name])
        return np.asarray(self._session.run(None, inputs)[0], np.float32)

    def _predictions(self, logits: FloatArray, language: str) -> list[VerifierPrediction]:
        if not np.isfinite(logits).all():
            raise ValueError("logits that are not finite")
        labels = self._config.labels
        scaled = logits / self._config.temperatures.get(language, 1.0)
        powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        probabilities = powers / powers.sum(axis=1, keepdims=True)
        names: tuple[ModelLabel, ...] = ("supported", "contradicted", "absent")
        return [
            VerifierPrediction(
                *(
                    float(sum(p for p, label in zip(row, labels, strict=True) if label == name))
                    for name in names
                )
            )
            for row in probabilities
        ]


def open_verifier(folder: Path) -> OnnxVerifier:
    """Open the ``model.onnx`` of a folder, with ``tokenizer.json`` and ``verifier.json`` or ``config.json``.

    Raises:
        VerifierUnavailable: it cannot be used.
    """
    try:
        # Optional dependencies.
        import onnxruntime  # noqa: PLC0415
        import tokenizers  # noqa: PLC0415
    except ImportError as error:
        message = f"a verifier needs pip install 'truthgate[verifier]': {_error_summary(error)}"
        raise VerifierUnavailable("verifier_not_installed", message) from error
    options = onnxruntime.SessionOptions()
    # More threads would take cores from the other scoring processes.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        (folder / MODEL_FILE).stat()  # a clearer error than onnxruntime's
        config = read_config(folder)
        tokenizer = tokenizers.Tokenizer.from_str((folder / TOKENIZER_FILE).read_text("utf-8"))
        session = onnxruntime.InferenceSession(
            str(folder / MODEL_FILE), options, providers=["CPUExecutionProvider"]
        )
        verifier = OnnxVerifier(session, tokenizer, config)
        verifier.check()
    # Neither library has an exception class of its own for unreadable files.
    except Exception as error:
        message = f"no verifier can be opened in {folder}: {_error_summary(error)}"
        raise VerifierUnavailable("verifier_unreadable", message) from error
    return verifier


def _error_summary(error: Exception) -> str:
    """Return in one short line what is wrong with a folder, whose files have no text of customers."""
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{Path(error.filename).name} is missing"
    return shorten(f"{type(error).__name__}: {error}", _MAX_REASON_CHARACTERS, placeholder=" ...")
