"""Parses that are made when they are asked for, or several together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from scoring.lexicon import Lexicon
from scoring.text.parsing.parse import Parse
from scoring.text.parsing.parser import Parser


class LazyParse:
    """The parse of one text, made at most once.

    ``keep`` takes those made together, for other processes and later ones; None for what nobody keeps.
    ``used_at`` is when it was last noted, in seconds since 1970, that what is kept is in use; None where it
    is not kept.
    """

    def __init__(self, text: str, lexicon: Lexicon, parser: Parser) -> None:
        self.text = text
        self.lexicon = lexicon
        self.parser = parser
        self.made: Parse | None = None
        self.keep: Callable[[Sequence[LazyParse]], None] | None = None
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
    together: defaultdict[Callable[[Sequence[LazyParse]], None], list[LazyParse]] = defaultdict(list)
    for lazy in made:
        if lazy.keep is not None:
            together[lazy.keep].append(lazy)
    for keep, parses in together.items():
        keep(parses)
