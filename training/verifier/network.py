"""The network: the encoder with a classifier of pairs, and one that marks the untrue words of the claim."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from scoring.verifier.onnx import TOKENIZER_FILE
from training.verifier.base import PAD, Base, Numbers, Shape

#: What the classifier tells of a pair, in this order.
LABELS = ("supported", "contradicted", "absent")

# Within the encoder it took a tenth of the time of a step, and the steps are too few to learn by heart.
_DROPOUT = 0.1


class Layer(nn.Module):  # type: ignore[misc]
    """One layer of a BERT, normalised after each part."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.width
        self._heads = shape.heads
        self.q, self.k, self.v, self.ao = (nn.Linear(width, width) for _ in range(4))
        self.fi, self.fo = nn.Linear(width, shape.inner), nn.Linear(shape.inner, width)
        self.aln, self.oln = (nn.LayerNorm(width, eps=shape.epsilon) for _ in range(2))

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        """Return the next hidden states; ``bias`` is added to the attention's scores."""
        count, length, width = hidden.shape
        queries, keys, values = (
            part(hidden).view(count, length, self._heads, -1).transpose(1, 2)
            for part in (self.q, self.k, self.v)
        )
        scores = queries @ keys.transpose(2, 3) * (width // self._heads) ** -0.5 + bias
        seen = (scores.softmax(-1) @ values).transpose(1, 2).reshape(count, length, width)
        hidden = self.aln(hidden + self.ao(seen))
        return self.oln(hidden + self.fo(functional.gelu(self.fi(hidden))))


class CrossEncoder(nn.Module):  # type: ignore[misc]
    """From the token ids of pairs to the logits of :data:`LABELS`."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.word = nn.Embedding(shape.vocabulary, shape.width, padding_idx=PAD)
        self.pos = nn.Embedding(shape.positions, shape.width)
        self.kind = nn.Parameter(torch.zeros(shape.width))
        self.ln = nn.LayerNorm(shape.width, eps=shape.epsilon)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.classify = nn.Linear(2 * shape.width, len(LABELS))
        self.mark = nn.Linear(shape.width, 1)
        self.dropout = nn.Dropout(_DROPOUT)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the logits of each pair; both arguments are (pairs, tokens) of whole numbers."""
        return self.logits(self.hidden(input_ids, attention_mask), attention_mask)

    def hidden(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the last hidden states."""
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        hidden = self.ln(self.word(input_ids) + self.pos(places) + self.kind)
        bias = (1.0 - attention_mask[:, None, None, :].to(hidden.dtype)) * -1e4
        for layer in self.layers:
            hidden = layer(hidden, bias)
        return hidden

    def logits(self, hidden: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the logits of pairs by their hidden states: of the first token, and the mean of all."""
        mask = attention_mask[:, :, None].to(hidden.dtype)
        mean = (hidden * mask).sum(1) / mask.sum(1)
        return self.classify(self.dropout(torch.cat((hidden[:, 0], mean), -1)))

    def marks(self, hidden: Tensor) -> Tensor:
        """Return for each token the logit of its being untrue."""
        return self.mark(hidden).squeeze(-1)


def network(base: Base) -> CrossEncoder:
    """Make a network with the weights of a base; what stands upon the encoder is new."""
    made = CrossEncoder(base.shape)
    new = {
        name: value for name, value in made.state_dict().items() if name.startswith(("classify.", "mark."))
    }
    made.load_state_dict({**_named(base.weights), **new})
    return made


def _named(weights: Mapping[str, Numbers]) -> dict[str, Tensor]:
    """Return weights under this module's names: ``l0.q.w`` is ``layers.0.q.weight``."""
    found = {}
    for name, values in weights.items():
        tensor = torch.from_numpy(values)
        if name == "emb.type":
            found["kind"] = tensor[0]
        elif name in {"emb.word", "emb.pos"}:
            found[f"{name.removeprefix('emb.')}.weight"] = tensor
        else:
            parts = name.removeprefix("emb.").split(".")
            if len(parts) == 3:  # noqa: PLR2004 - layer, part, and what of it
                parts[0] = f"layers.{parts[0].removeprefix('l')}"
            parts[-1] = {"w": "weight", "b": "bias"}[parts[-1]]
            found[".".join(parts)] = tensor
    return found


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
