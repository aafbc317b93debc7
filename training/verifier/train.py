"""Trains the verifier: ``python -m training.verifier.train --corpus DIR --out DIR --minutes 25``.

One core. ``DIR`` gets the network as ``kept`` keeps it, which ``export`` reads.
"""

import argparse
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from training.verifier.base import cut_vocabulary, packed_file, read_base
from training.verifier.batches import Batch, batches
from training.verifier.network import CrossEncoder, load, network, save
from training.verifier.pairs import Pair, answer_pairs, described, edit_pairs, written_pairs
from training.verifier.texts import DEVELOPMENT, LANGUAGES, lines

_SEED = 0
_HERE = Path(__file__).parent
_BATCH = 16
_WARM_UP = 0.06
_MARKS = 0.3
_SMOOTHING = 0.05
_TOLD_EVERY = 25


@dataclass(frozen=True, slots=True)
class Recipe:
    """How long and on what is trained.

    ``minutes`` are by the clock. ``edits`` sentences of the documents of each language are edited anew
    each epoch, those of the products ``edited`` among them. ``written``: whether claims that were written
    for passages are learnt from too. ``across``: the share of the answers' pairs that come again with their
    passage in the other language. The first ``frozen`` layers stay as they are.
    """

    minutes: float
    epochs: int
    edits: int
    rate: float
    across: float
    frozen: int
    edited: tuple[str, ...] = ()
    written: bool = False


def train(corpus: Path, recipe: Recipe, model: CrossEncoder, tokenizer: Tokenizer) -> None:
    """Train a network until the epochs or the minutes are over, whichever is first."""
    chance = random.Random(_SEED)  # noqa: S311 - nothing here is secret
    # The words' vectors were cut from many languages' and are seen too seldom here to be improved.
    for part in (model.word, *model.layers[: recipe.frozen]):
        part.requires_grad_(False)
    optimizer = torch.optim.AdamW(
        [weights for weights in model.parameters() if weights.requires_grad],
        lr=recipe.rate,
        weight_decay=0.01,
    )
    began, step, steps = time.monotonic(), 0, 0
    average = 0.0
    model.train()
    for epoch in range(recipe.epochs):
        pairs = _pairs(corpus, recipe, chance)
        steps = steps or recipe.epochs * len(pairs) // _BATCH
        _tell(f"epoch {epoch}: {len(pairs)} pairs {described(pairs)}")
        for batch in batches(pairs, tokenizer, _BATCH, chance):
            done = max(step / steps, (time.monotonic() - began) / 60 / recipe.minutes)
            if done >= 1:
                return
            for group in optimizer.param_groups:
                group["lr"] = recipe.rate * min(done / _WARM_UP, (1 - done) / (1 - _WARM_UP))
            found = loss(model, batch)
            optimizer.zero_grad()
            found.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            average += (found.item() - average) / min(step, _TOLD_EVERY)
            if step % _TOLD_EVERY == 0:
                _tell(f"step {step} of {steps}, {time.monotonic() - began:.0f} s, loss {average:.3f}")


def loss(model: CrossEncoder, batch: Batch) -> Tensor:
    """Return how far the network is from the labels and the marks of a batch."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = model.hidden(batch.input_ids, batch.attention_mask)
        logits = model.logits(hidden, batch.attention_mask).float()
        marks = model.marks(hidden).float()
    classes = functional.cross_entropy(logits, batch.labels, reduction="none", label_smoothing=_SMOOTHING)
    known = batch.marks >= 0
    total = (classes * batch.weights).sum() / batch.weights.sum()
    if not known.any():
        return total
    return total + _MARKS * functional.binary_cross_entropy_with_logits(marks[known], batch.marks[known])


def _pairs(corpus: Path, recipe: Recipe, chance: random.Random) -> list[Pair]:
    return [
        *answer_pairs(corpus, DEVELOPMENT, chance, across=recipe.across),
        *edit_pairs(corpus, (*DEVELOPMENT, *recipe.edited), recipe.edits, chance),
        *(written_pairs(_HERE, kept_apart=False) if recipe.written else ()),
    ]


def _begun(corpus: Path) -> tuple[CrossEncoder, Tokenizer]:
    texts = [
        line["text"]
        for product in DEVELOPMENT
        for language in LANGUAGES
        for line in lines(corpus / "documents", product, language)
    ]
    base, tokenizer = cut_vocabulary(read_base(packed_file()), texts)
    return network(base), tokenizer


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Read the arguments, train, and write the network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=Path(__file__).parents[1] / "rated")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=25.0)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--edits", type=int, default=220)
    parser.add_argument("--rate", type=float, default=8e-5)
    parser.add_argument("--across", type=float, default=0.0)
    parser.add_argument("--frozen", type=int, default=0)
    parser.add_argument("--edited", nargs="*", default=[], help="products whose documents alone are in DIR")
    parser.add_argument("--written", action="store_true", help="learn from the claims in written, too")
    parser.add_argument("--start", type=Path, help="where training left off before: an --out of it")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(_SEED)
    model, tokenizer = load(options.start) if options.start else _begun(options.corpus)
    recipe = Recipe(
        options.minutes,
        options.epochs,
        options.edits,
        options.rate,
        options.across,
        options.frozen,
        tuple(options.edited),
        written=options.written,
    )
    train(options.corpus, recipe, model, tokenizer)
    save(options.out, model, tokenizer)


if __name__ == "__main__":
    main()
