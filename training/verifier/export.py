"""Makes of a trained network what ``scoring.verifier`` opens.

Run as ``python -m training.verifier.export TRAINED --out DIR``. In 8 bits, with a temperature for each
language that makes the probabilities of the validation products' pairs true. Prints how it judges these.
"""

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from scoring.verifier.onnx import (
    CONFIG_FILE,
    MODEL_FILE,
    TOKENIZER_FILE,
    OnnxVerifier,
    VerifierConfig,
    VerifierInput,
    open_verifier,
)
from training.verifier.batches import BETWEEN, MOST_TOKENS
from training.verifier.measure import Logits, temperature
from training.verifier.network import LABELS, CrossEncoder, load
from training.verifier.pairs import Pair, answer_pairs
from training.verifier.texts import LANGUAGES, VALIDATION

_OPSET = 17
_UNLIMITED = 1e9
_LEAST = 1e-9


def export(model: CrossEncoder, path: Path) -> None:
    """Write a network as ONNX in 8 bits."""
    with tempfile.TemporaryDirectory() as work:
        whole = Path(work) / "whole.onnx"
        torch.onnx.export(
            model,
            (torch.ones(2, 16, dtype=torch.int64), torch.ones(2, 16, dtype=torch.int64)),
            str(whole),
            input_names=["input_ids", "attention_mask"],
            output_names=["logits"],
            dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in ("input_ids", "attention_mask")},
            opset_version=_OPSET,
            dynamo=False,
        )
        quantize_dynamic(
            whole,
            path,
            per_channel=True,
            weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul", "Gemm", "Gather"],
        )
    onnx.checker.check_model(str(path))


def logits_of(verifier: OnnxVerifier, pairs: Sequence[Pair], language: str) -> Logits:
    """Return the logits of pairs, as those of a verifier without temperatures can be known."""
    asked = [VerifierInput(pair.question, pair.claim, pair.passage) for pair in pairs]
    told = verifier.verify(asked, language, _UNLIMITED).predictions
    rows = [[getattr(opinion, label) for label in LABELS] for opinion in told]
    return np.log(np.maximum(np.array(rows, np.float32), _LEAST))


def _temperatures(verifier: OnnxVerifier, corpus: Path) -> dict[str, float]:
    chance = random.Random(0)  # noqa: S311 - nothing here is secret
    pairs = [
        pair for pair in answer_pairs(corpus, VALIDATION, chance, kept_apart=None) if pair.source == "answer"
    ]
    found = {}
    for language in LANGUAGES:
        own = [pair for pair in pairs if pair.language == language]
        logits, labels = logits_of(verifier, own, language), np.array([pair.label for pair in own])
        found[language] = round(temperature(logits, labels), 2)
        right = float((logits.argmax(1) == labels).mean())
        sys.stdout.write(f"{language}: {len(own)} pairs, {right:.1%} right, temperature {found[language]}\n")
        for place, label in enumerate(LABELS):
            chosen = np.bincount(logits[labels == place].argmax(1), minlength=len(LABELS))
            sys.stdout.write(f"  {label}: {dict(zip(LABELS, chosen.tolist(), strict=True))}\n")
        sys.stdout.flush()
    return found


def _describe(folder: Path, description: VerifierConfig) -> None:
    (folder / CONFIG_FILE).write_text(description.model_dump_json(indent=2) + "\n", "utf-8")


def main() -> None:
    """Read the arguments and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trained", type=Path)
    parser.add_argument("--corpus", type=Path, default=Path(__file__).parents[1] / "rated")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    model, _ = load(options.trained)
    export(model, options.out / MODEL_FILE)
    shutil.copy(options.trained / TOKENIZER_FILE, options.out / TOKENIZER_FILE)
    description = VerifierConfig(labels=LABELS, first="claim", between=BETWEEN, max_tokens=MOST_TOKENS)
    # The temperatures are those of the model in 8 bits, so it is opened before they are known.
    _describe(options.out, description)
    found = _temperatures(open_verifier(options.out), options.corpus)
    _describe(options.out, description.model_copy(update={"temperatures": found}))


if __name__ == "__main__":
    main()
