"""Parses that are made when they are asked for, or several together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Protocol

from scoring.lexicon import Lexicon
from scoring.text.parsing.parse import Parse
from scoring.text.parsing.parser import Parser


class Keeper(Protocol):
    """Whoever keeps parses for other processes and later ones."""

    def keep(self, parses: Sequence[LazyParse]) -> None:
        """Keep parses that have just been made."""


class LazyParse:
    """The parse of one text, made at most once.

    ``keeper`` is told when it is made, None for what nobody keeps. ``used_at`` is when the keeper last
    noted, in seconds since 1970, that it is in use; None where it does not have it.
    """

    def __init__(self, text: str, lexicon: Lexicon, parser: Parser) -> None:
        self.text = text
        self.lexicon = lexicon
        self.parser = parser
        self.made: Parse | None = None
        self.keeper: Keeper | None = None
        self.used_at: float | None = None

    def get(self) -> Parse:
        """Return the parse; raises PipelineError where the language has no spaCy pipeline."""
        if self.made is None:
            make_together([self])
        assert self.made is not None
        return self.made


def make_together(parses: Iterable[LazyParse]) -> None:
    """Make those that are not made yet, all in one go, which is faster than one by one."""
    groups: defaultdict[tuple[Lexicon, Parser], dict[LazyParse, None]] = defaultdict(dict)
    for lazy in parses:
        if lazy.made is None:
            groups[lazy.lexicon, lazy.parser][lazy] = None
    for (lexicon, parser), group in groups.items():
        made = parser.parse_all([lazy.text for lazy in group], lexicon)
        for lazy, parse in zip(group, made, strict=True):
            lazy.made = parse
        _keep(group)


def _keep(made: Iterable[LazyParse]) -> None:
    keepers: defaultdict[Keeper, list[LazyParse]] = defaultdict(list)
    for lazy in made:
        if lazy.keeper is not None:
            keepers[lazy.keeper].append(lazy)
    for keeper, parses in keepers.items():
        keeper.keep(parses)
