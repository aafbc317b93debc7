"""A parsed text as columns."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int32]
Flags = NDArray[np.bool_]
#: Parts of speech (Universal Dependencies) of what is no word.
NO_WORDS = frozenset({"PUNCT", "SYM", "SPACE"})

Column = TypeVar("Column", Integers, Flags)


@dataclass(frozen=True, slots=True, eq=False)
class Parse:
    """The tokens of a text, one column an attribute, all of the same length; white space is no token.

    - ``text``, ``lemma``: folded for comparing; a lemma is the text where the pipeline has none.
    - ``pos``, ``dep``: part of speech and relation to the head, in the terms of Universal Dependencies.
      A pipeline with labels of its own keeps its own structure: in "it is free" spaCy's English head is
      "is", the Dutch one is "free".
    - ``head``: the index of the head; a root is its own.
    - ``start``, ``end``: character offsets into the original text.
    - ``is_stop``: whether the word carries no content by the language's lexicon. A negation does.

    A parse is a fraction of the size of the spaCy document it was made from, which is not kept.
    """

    text: tuple[str, ...]
    lemma: tuple[str, ...]
    pos: tuple[str, ...]
    dep: tuple[str, ...]
    head: Integers
    start: Integers
    end: Integers
    is_stop: Flags

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.text)

    def indices(self, start: int, end: int) -> range:
        """Return the indices of the tokens that begin in ``[start, end)`` (character offsets)."""
        return range(bisect_left(self.start, start), bisect_left(self.start, end))

    def part(self, start: int, end: int) -> Parse:
        """Return the tokens that begin in ``[start, end)``; whose head is outside becomes a root."""
        kept = self.indices(start, end)
        if len(kept) == len(self):
            return self
        chosen = slice(kept.start, kept.stop)
        columns = {column.name: getattr(self, column.name)[chosen] for column in fields(self)}
        own = np.arange(len(kept), dtype=np.int32)
        head = columns["head"] - np.int32(kept.start)
        columns["head"] = frozen(np.where((head >= 0) & (head < len(kept)), head, own))
        return Parse(**columns)


def frozen(column: Column) -> Column:
    """Return the column, from now on read-only."""
    column.flags.writeable = False
    return column
