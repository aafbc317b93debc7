"""A network in a folder: its weights, sizes and tokenizer."""

import json
from dataclasses import asdict
from pathlib import Path

import torch
from tokenizers import Tokenizer

from scoring.verifier.onnx import TOKENIZER_FILE
from training.verifier.base import Shape
from training.verifier.network import CrossEncoder

_WEIGHTS = "weights.pt"
_SHAPE = "shape.json"


def save(folder: Path, model: CrossEncoder, tokenizer: Tokenizer) -> None:
    """Write a network to a folder, which is made where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), folder / _WEIGHTS)
    tokenizer.no_truncation()
    tokenizer.save(str(folder / TOKENIZER_FILE))
    (folder / _SHAPE).write_text(json.dumps(asdict(model.shape)), "utf-8")


def load(folder: Path) -> tuple[CrossEncoder, Tokenizer]:
    """Read what :func:`save_terms` wrote."""
    model = CrossEncoder(Shape(**json.loads((folder / _SHAPE).read_text("utf-8"))))
    model.load_state_dict(torch.load(folder / _WEIGHTS, weights_only=True))
    return model.eval(), Tokenizer.from_file(str(folder / TOKENIZER_FILE))
