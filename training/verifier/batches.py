"""Pairs as the network reads them: token ids, masks, labels, and which tokens of the claim are untrue."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from tokenizers import Encoding, Tokenizer
from torch import Tensor

from training.verifier.base import PAD
from training.verifier.pairs import CONTRADICTED, SUPPORTED, Pair

#: What stands between question and claim.
BETWEEN = " | "
#: The most tokens of a pair; of longer ones the longer text is cut.
MOST_TOKENS = 160

_UNKNOWN = -1.0
# Batches are made of pairs of about one length out of so many batches' pairs.
_SORTED = 20


@dataclass(frozen=True, slots=True)
class Batch:
    """``marks`` are 1 for untrue tokens of a claim, 0 for its others, and -1 where that is not known."""

    input_ids: Tensor
    attention_mask: Tensor
    labels: Tensor
    marks: Tensor
    weights: Tensor


def first_text(question: str, claim: str) -> str:
    """Return the first text of a pair: the claim after its question."""
    return f"{question}{BETWEEN}{claim}"


def encoded(tokenizer: Tokenizer, pairs: Sequence[Pair]) -> list[Encoding]:
    """Return the tokens of pairs."""
    tokenizer.enable_truncation(MOST_TOKENS, strategy="longest_first")
    return list(
        tokenizer.encode_batch([(first_text(pair.question, pair.claim), pair.passage) for pair in pairs])
    )


def batches(pairs: Sequence[Pair], tokenizer: Tokenizer, size: int, chance: random.Random) -> Iterator[Batch]:
    """Yield pairs in batches of about one length, in an order by ``chance``."""
    order = chance.sample(range(len(pairs)), len(pairs))
    found = encoded(tokenizer, pairs)
    for start in range(0, len(order), size * _SORTED):
        part = sorted(order[start : start + size * _SORTED], key=lambda number: len(found[number].ids))
        chunks = [part[first : first + size] for first in range(0, len(part), size)]
        chance.shuffle(chunks)
        for chunk in chunks:
            yield _batch([pairs[number] for number in chunk], [found[number] for number in chunk])


def _batch(pairs: Sequence[Pair], found: Sequence[Encoding]) -> Batch:
    longest = max(len(encoding.ids) for encoding in found)
    ids = torch.full((len(pairs), longest), PAD)
    mask = torch.zeros((len(pairs), longest))
    marks = torch.full((len(pairs), longest), _UNKNOWN)
    for row, (pair, encoding) in enumerate(zip(pairs, found, strict=True)):
        ids[row, : len(encoding.ids)] = torch.tensor(encoding.ids)
        mask[row, : len(encoding.ids)] = 1
        for place, value in _marked(pair, encoding):
            marks[row, place] = value
    labels = torch.tensor([pair.label for pair in pairs])
    return Batch(ids, mask, labels, marks, torch.tensor([_weight(pair) for pair in pairs]))


def _marked(pair: Pair, encoding: Encoding) -> Iterator[tuple[int, float]]:
    """Yield the places of the claim's tokens and whether they are untrue, where that is known."""
    if not pair.marks and pair.label != SUPPORTED:
        return
    shift = len(pair.question) + len(BETWEEN)
    for place, (start, end) in enumerate(encoding.offsets):
        if encoding.sequence_ids[place] == 0 and start >= shift and end > start:
            yield (
                place,
                float(any(left < end - shift and start - shift < right for left, right in pair.marks)),
            )


def _weight(pair: Pair) -> float:
    # Contradictions as people make them are few, and what all this is for.
    return 2.0 if pair.label == CONTRADICTED and pair.source == "answer" else 1.0
