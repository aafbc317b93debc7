"""From spaCy's documents to the columns of a parse."""

from __future__ import annotations

from collections.abc import Sequence
from sys import intern
from typing import TYPE_CHECKING

import numpy as np

from scoring.lexicon import Lexicon
from scoring.text.parsing.parse import Flags, Parse, frozen
from scoring.text.parsing.pieces import Piece

if TYPE_CHECKING:
    from spacy.tokens import Doc

# The English pipelines name the relations by the older ClearNLP scheme.
_UNIVERSAL = {
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
    "dobj": "obj",
    "dative": "iobj",
    "neg": "advmod",
    "ROOT": "root",
}

# Universal Dependencies: the particle of a separable verb. English pipelines call theirs "prt".
_PARTICLE = "compound:prt"


class Columns:
    """Collects the tokens of one text, piece by piece."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._texts: list[str] = []
        self._lemmas: list[str] = []
        self._pos: list[str] = []
        self._dep: list[str] = []
        self._heads: list[int] = []
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, doc: Doc, piece: Piece) -> None:
        """Add the tokens of a parsed piece."""
        places, first = piece.places.tolist(), len(self._texts)
        for token in doc:
            text = _folded(token.text)
            self._texts.append(text)
            self._lemmas.append(_folded(token.lemma_) or text)
            self._pos.append(intern(token.pos_))
            self._dep.append(intern(_UNIVERSAL.get(token.dep_, token.dep_)))
            self._heads.append(first + token.head.i)
            self._starts.append(places[token.idx])
            self._ends.append(places[token.idx + len(token) - 1] + 1)

    def parse(self) -> Parse:
        """Return what was collected."""
        self._join_particles()
        return Parse(
            text=tuple(self._texts),
            lemma=tuple(self._lemmas),
            pos=tuple(self._pos),
            dep=tuple(self._dep),
            head=frozen(np.array(self._heads, dtype=np.int32)),
            start=frozen(np.array(self._starts, dtype=np.int32)),
            end=frozen(np.array(self._ends, dtype=np.int32)),
            is_stop=stop_flags(self._lemmas, self._lexicon),
        )

    def _join_particles(self) -> None:
        """Give "vul ... in" the lemma of "ingevuld", where it is one word: "invullen"."""
        joined = set()
        for place, dep in enumerate(self._dep):
            head = self._heads[place]
            # One particle a verb: a parser that errs may hang many on one.
            if dep == _PARTICLE and self._pos[head] == "VERB" and head not in joined:
                joined.add(head)
                self._lemmas[head] = intern(self._texts[place] + self._lemmas[head])


def stop_flags(lemmas: Sequence[str], lexicon: Lexicon) -> Flags:
    """Return for each lemma whether it carries no content by the lexicon; a negation does."""
    stops = lexicon.function_words - lexicon.negations
    return frozen(np.array([lemma in stops for lemma in lemmas], dtype=np.bool_))


def _folded(text: str) -> str:
    return intern(text.casefold().replace("’", "'"))
