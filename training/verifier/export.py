"""Makes of a trained network what ``scoring.verifier`` opens.

Run as ``python -m training.verifier.export TRAINED --out DIR``.

In 8 bits, with a temperature for each language that makes the probabilities of the validation products' pairs
true: the one at which they are least surprised by the labels.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer

from scoring.verifier.description import FILE, Description
from scoring.verifier.onnx import MODEL, TOKENIZER
from training.verifier.batches import BETWEEN, MOST_TOKENS, batches
from training.verifier.calibration import temperature
from training.verifier.kept import load
from training.verifier.network import LABELS, CrossEncoder
from training.verifier.pairs import Pair, answer_pairs
from training.verifier.texts import LANGUAGES, VALIDATION

_BATCH = 32
_OPSET = 17


def logits_of(model: CrossEncoder, tokenizer: Tokenizer, pairs: list[Pair]) -> npt.NDArray[np.float32]:
    """Return the logits of pairs, in their order."""
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        rows = [
            model(batch.input_ids, batch.attention_mask).float().numpy()
            for batch in batches(pairs, tokenizer, _BATCH)
        ]
    return np.concatenate(rows)


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


def _temperatures(model: CrossEncoder, tokenizer: Tokenizer, corpus: Path) -> Mapping[str, float]:
    chance = random.Random(0)  # noqa: S311 - nothing here is secret
    pairs = list(answer_pairs(corpus, VALIDATION, chance, kept_apart=None))
    found = {}
    for language in LANGUAGES:
        own = [pair for pair in pairs if pair.language == language and pair.source == "answer"]
        logits = logits_of(model, tokenizer, own)
        labels = np.array([pair.label for pair in own])
        found[language] = round(temperature(logits, labels), 2)
        right = float((logits.argmax(1) == labels).mean())
        sys.stdout.write(f"{language}: {len(own)} pairs, {right:.1%} right, temperature {found[language]}\n")
        for place, label in enumerate(LABELS):
            chosen = np.bincount(logits[labels == place].argmax(1), minlength=len(LABELS))
            sys.stdout.write(f"  {label}: {dict(zip(LABELS, chosen.tolist(), strict=True))}\n")
    return found


def main() -> None:
    """Read the arguments and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trained", type=Path)
    parser.add_argument("--corpus", type=Path, default=Path(__file__).parents[1] / "rated")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    model, tokenizer = load(options.trained)
    description = Description(
        labels=LABELS,
        first="claim",
        between=BETWEEN,
        most_tokens=MOST_TOKENS,
        temperatures=_temperatures(model, tokenizer, options.corpus),
    )
    (options.out / FILE).write_text(description.model_dump_json(indent=2) + "\n", "utf-8")
    shutil.copy(options.trained / TOKENIZER, options.out / TOKENIZER)
    export(model, options.out / MODEL)


if __name__ == "__main__":
    main()
