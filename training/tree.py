"""A dependency tree under conversion, and the converted one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from training.frog import FrogToken
from training.tags import tag_parts

ROOT = -1
_STAYS_WITH_ITS_WORD = frozenset({"fixed", "flat", "punct"})


@dataclass(frozen=True, slots=True)
class UdWord:
    """A word of a Universal Dependencies tree; ``head`` is an index in the sentence, -1 for the root."""

    text: str
    lemma: str
    pos: str
    head: int
    dep: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it is written, and its tree."""

    text: str
    words: tuple[UdWord, ...]


class Graph:
    """The words of one sentence with heads and labels that the steps of the conversion change."""

    def __init__(self, tokens: Sequence[FrogToken]) -> None:
        """Start from Frog's own heads and labels."""
        self.tokens = tokens
        self.heads = [token.head for token in tokens]
        self.labels = [token.label for token in tokens]
        self.kinds = [(tag_parts(token.tag) or ("",))[0] for token in tokens]
        # Words that came to their head from its auxiliary or copula: they belong to the clause.
        self.clausal: set[int] = set()

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.tokens)

    def has(self, node: int, part: str) -> bool:
        """Tell whether the CGN tag of ``node`` has ``part``, such as ``inf`` or ``onder``."""
        return part in tag_parts(self.tokens[node].tag)

    def children(self, node: int, *labels: str) -> list[int]:
        """Return the children of ``node``, in order; only those labelled so, where labels are given."""
        return [
            child
            for child, head in enumerate(self.heads)
            if head == node and (not labels or self.labels[child] in labels)
        ]

    def roots(self) -> list[int]:
        """Return the words without a head that are not punctuation."""
        return [node for node, head in enumerate(self.heads) if head == ROOT and self.kinds[node] != "LET"]

    def attach(self, node: int, head: int, label: str) -> None:
        """Make ``node`` a child of ``head``."""
        self.heads[node], self.labels[node] = head, label

    def promote(self, child: int, label: str) -> None:
        """Let ``child`` change places with its head, which becomes its child labelled ``label``.

        The head's other children follow to ``child``, except what belongs to that very word.
        """
        node = self.heads[child]
        self.attach(child, self.heads[node], self.labels[node])
        for other in self.children(node):
            if self.labels[other] not in _STAYS_WITH_ITS_WORD:
                self.heads[other] = child
                if self.kinds[node] == "WW":
                    self.clausal.add(other)
        self.attach(node, child, label)

    def path(self, node: int) -> Iterator[int]:
        """Yield the ancestors of ``node``, the nearest first; stops after as many as there are words."""
        for _ in range(len(self)):
            node = self.heads[node]
            if node == ROOT:
                return
            yield node

    def has_circle(self) -> bool:
        """Tell whether the ancestors of some word never end."""
        return any(sum(1 for _ in self.path(node)) == len(self) for node in range(len(self)))

    def bottom_up(self) -> list[int]:
        """Return all words, each before its head."""
        return sorted(range(len(self)), key=lambda node: -sum(1 for _ in self.path(node)))
