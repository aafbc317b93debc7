"""Parses that are made when they are asked for, or several together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from scoring.lexicon import Lexicon
from scoring.parsing.parse import Parse
from scoring.parsing.parser import Parser


class LazyParse:
    """The parse of one text, made at most once."""

    def __init__(self, text: str, lexicon: Lexicon, parser: Parser) -> None:
        self.text = text
        self.lexicon = lexicon
        self.parser = parser
        self.made: Parse | None = None

    def get(self) -> Parse:
        """Return the parse; raises PipelineError where the language has no spaCy pipeline."""
        if self.made is None:
            self.made = self.parser.parse(self.text, self.lexicon)
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
