"""Texts as the features read them: words with their spans, and what is derived from them once."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

from scoring.lexicon import Lexicon
from scoring.text.characters import clause_ends_between
from scoring.text.parsing import LazyParse, Parse, ParseCache, Parser, default_parser
from scoring.values.exchange import Segment

T = TypeVar("T")

# Neighbouring quantifiers repeat what is disjoint, and nothing follows them: no text makes the search slow.
_WORD = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text, folded for comparing; ``start`` and ``end`` are its place in the original."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TranslationSource:
    """What a translated text is the translation of, segment by segment."""

    text: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class PreparedText:
    """A text with its words, ready for every feature.

    ``start`` and ``end`` bound what is compared (an answer without its greeting); all offsets are
    into ``original``. ``whole_parse`` is that of all of it; ``source`` is given where ``original`` is
    itself a translation. What is costly to derive is kept by ``derived``.
    """

    original: str
    lexicon: Lexicon
    start: int
    end: int
    whole_parse: LazyParse = field(repr=False, compare=False)
    source: TranslationSource | None = None
    _cache: dict[Callable[..., Any], Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        original: str,
        lexicon: Lexicon,
        start: int = 0,
        end: int | None = None,
        *,
        parser: Parser | None = None,
        source: TranslationSource | None = None,
    ) -> PreparedText:
        """Prepare ``original``, of which ``[start, end)`` is compared; all of it by default.

        ``parser`` is that of the default pipelines where none is given.
        """
        stop = len(original) if end is None else end
        whole_parse = LazyParse(original, lexicon, parser or default_parser())
        return cls(original, lexicon, start, stop, whole_parse, source)

    def part(self, start: int, end: int) -> PreparedText:
        """Return the same text, of which only ``[start, end)`` is compared; the two share one parse."""
        return replace(self, start=start, end=end, _cache={})

    @property
    def parse(self) -> Parse:
        """The tokens of the compared part with their lemmas and relations, parsed at first use.

        Raises PipelineError where the language has no spaCy pipeline.
        """
        return self.cached(_compared_parse)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words of the compared part, in order."""
        return split_words(self.original, self.start, self.end)

    @cached_property
    def word_texts(self) -> tuple[str, ...]:
        """The folded words without their places."""
        return tuple(word.text for word in self.words)

    @property
    def compared_text(self) -> str:
        """The part of the original that is compared."""
        return self.original[self.start : self.end]

    def lines(self) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of every line of the compared part, without its line end."""
        start = self.start
        for line in self.compared_text.split("\n"):
            yield start, start + len(line)
            start += len(line) + 1

    def cached(self, compute: Callable[[PreparedText], T]) -> T:
        """Return ``derive(self)``, computed once; ``derive`` must be a pure module-level function."""
        if compute not in self._cache:
            self._cache[compute] = compute(self)
        result: T = self._cache[compute]
        return result


def _compared_parse(text: PreparedText) -> Parse:
    return text.whole_parse.get().part(text.start, text.end)


def split_words(text: str, start: int = 0, end: int | None = None) -> tuple[Word, ...]:
    """Split ``text[start:end]`` into folded words; numbers such as 1.000 or 0,23 stay whole."""
    stop = len(text) if end is None else end
    return tuple(Word(_folded(match.group()), *match.span()) for match in _WORD.finditer(text, start, stop))


def folded_words(text: str) -> Iterator[str]:
    """Yield the words that :func:`split_words` finds, without their positions, in a fifth of the time."""
    return map(_folded, _WORD.findall(text))


def _folded(word: str) -> str:
    return word.casefold().replace("’", "'")


def clause_starts(text: PreparedText) -> frozenset[int]:
    """Return the indices of the words that begin a clause."""
    after = (
        index
        for index, (left, right) in enumerate(pairwise(text.words), 1)
        if clause_ends_between(text.original, left.end, right.start)
    )
    return frozenset((0, *after) if text.words else ())


class TextCache:
    """Prepared texts by content, the least recently used dropped; bounded in characters.

    One entry a distinct text and language: a document that many answers cite is prepared once. The parses
    of those that may outlive the process are looked for in a file, and kept there.
    """

    def __init__(
        self, max_characters: int, parser: Parser | None = None, parse_cache: ParseCache | None = None
    ) -> None:
        """Keep at most ``max_characters`` of original text, and parses in ``kept``, if anywhere."""
        self._max_characters = max_characters
        self._parser = parser or default_parser()
        self._kept = parse_cache
        self.hits = self.disk_hits = self.misses = 0
        self._characters = 0
        self._texts: OrderedDict[tuple[str, str], PreparedText] = OrderedDict()

    def __len__(self) -> int:
        """Return how many texts are kept."""
        return len(self._texts)

    def prepare(self, original: str, lexicon: Lexicon, persistent: bool = False) -> PreparedText:
        """Return the prepared text of ``original``, from the cache where it is there.

        ``lasting``: its parse may be kept in the file.
        """
        key = (lexicon.language, original)
        in_memory = (found := self._texts.get(key)) is not None
        prepared = found or PreparedText.of(original, lexicon, parser=self._parser)
        on_disk = persistent and self._kept is not None and self._kept.restore(prepared.whole_parse)
        self._count(in_memory, on_disk)
        if in_memory:
            self._texts.move_to_end(key)
        else:
            self._add(key, prepared)
        return prepared

    def _count(self, in_memory: bool, on_disk: bool) -> None:
        self.hits += in_memory
        self.disk_hits += on_disk and not in_memory
        self.misses += not (in_memory or on_disk)

    def _add(self, key: tuple[str, str], prepared: PreparedText) -> None:
        self._texts[key] = prepared
        self._characters += len(prepared.original)
        while self._characters > self._max_characters and self._texts:
            (_, dropped), _ = self._texts.popitem(last=False)
            self._characters -= len(dropped)


@dataclass(frozen=True, slots=True)
class PreparedPassage:
    """A document of the context, prepared; the preparation is shared by all answers that cite it.

    ``version`` is that of the document where it is known. ``body``: where in ``text`` the document's own text
    begins, after its title, None where ``text`` is a translation of it; ``offset``: where that is in the
    document, of which it may be a part.
    """

    document_id: str
    text: PreparedText
    version: str | None = None
    body_start: int | None = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class PreparedExchange:
    """The texts of one exchange, all in one language.

    ``answer`` is compared without its greeting and closing, ``whole_answer`` with them: what looks
    like a closing may name a component. Without one, ``answer`` is whole. ``company_terms`` are the
    folded words of the company's own language, or None where they are not known. ``verified``: by the
    place of a claim among those of the answer, the probability that the documents support it, of those that
    a verifier gave an opinion on; None where none is named. ``quoted``: the id of the published document of
    which the answer is all, and which the question names, if there is one. Nothing that is derived depends on
    these two.
    """

    question: PreparedText
    answer: PreparedText
    context: tuple[PreparedPassage, ...]
    whole_answer: PreparedText | None = None
    company_terms: frozenset[str] | None = None
    support_probabilities: Mapping[int, float] | None = None
    quoted_document_id: str | None = None
    _cache: dict[Callable[..., Any], Any] = field(default_factory=dict, repr=False, compare=False)

    def cached(self, compute: Callable[[PreparedExchange], T]) -> T:
        """Return ``derive(self)``, computed once; ``derive`` must be a pure module-level function."""
        if compute not in self._cache:
            self._cache[compute] = compute(self)
        result: T = self._cache[compute]
        return result
