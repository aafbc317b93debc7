"""Texts as the features read them: words with their spans, parses, and values computed once."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self, TypeVar

from scoring.lexicon import Lexicon, load_shipped
from scoring.text.characters import clause_ends_between
from scoring.text.parsing import LazyParse, Parse, ParseCache, Parser, default_parser
from scoring.values.exchange import Segment

T = TypeVar("T")

# Adjacent quantifiers match disjoint characters, and nothing follows them: no text makes the search slow.
_WORD = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Word:
    """One folded word of a text, with its span in the original."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TranslationSource:
    """The original of a translated text, segment by segment."""

    text: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class _Memoizing:
    _cache: dict[Callable[..., Any], Any] = field(
        default_factory=dict, repr=False, compare=False, kw_only=True
    )

    def cached(self, compute: Callable[[Self], T]) -> T:
        """Return ``compute(self)``, computed once; ``compute`` must be a pure module-level function."""
        if compute not in self._cache:
            self._cache[compute] = compute(self)
        result: T = self._cache[compute]
        return result


@dataclass(frozen=True)
class PreparedText(_Memoizing):
    """A text with its words and parse, ready for every feature.

    ``start`` and ``end`` bound the compared part (an answer without its greeting); all offsets are into
    ``original``. ``whole_parse`` covers all of ``original``. ``source`` is set where ``original`` is itself a
    translation.
    """

    original: str
    lexicon: Lexicon
    start: int
    end: int
    whole_parse: LazyParse = field(repr=False, compare=False)
    source: TranslationSource | None = None

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
        """Prepare a text with the compared part ``[start, end)``; by default all, with the default parser."""
        stop = len(original) if end is None else end
        whole_parse = LazyParse(original, lexicon, parser or default_parser())
        return cls(original, lexicon, start, stop, whole_parse, source)

    def part(self, start: int, end: int) -> PreparedText:
        """Return the same text with another compared part; both share one parse."""
        return replace(self, start=start, end=end, _cache={})

    @cached_property
    def parse(self) -> Parse:
        """The tokens of the compared part, parsed at first use.

        Raises PipelineError where the language has no spaCy pipeline.
        """
        return self.whole_parse.get().part(self.start, self.end)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words of the compared part, in order."""
        return split_words(self.original, self.start, self.end)

    @cached_property
    def word_texts(self) -> tuple[str, ...]:
        """The folded words without their spans."""
        return tuple(word.text for word in self.words)

    @property
    def compared_text(self) -> str:
        """The compared part of the original."""
        return self.original[self.start : self.end]

    def lines(self) -> Iterator[tuple[int, int]]:
        """Yield the span of every line of the compared part, without its line end."""
        start = self.start
        for line in self.compared_text.split("\n"):
            yield start, start + len(line)
            start += len(line) + 1


def split_words(text: str, start: int = 0, end: int | None = None) -> tuple[Word, ...]:
    """Split ``text[start:end]`` into folded words; numbers such as 1.000 or 0,23 stay whole."""
    stop = len(text) if end is None else end
    return tuple(Word(_folded(match.group()), *match.span()) for match in _WORD.finditer(text, start, stop))


def folded_words(text: str) -> Iterator[str]:
    """Yield the words of :func:`split_words` without their spans, in a fifth of the time."""
    return map(_folded, _WORD.findall(text))


def _folded(word: str) -> str:
    return word.casefold().replace("’", "'")


def clause_starts(text: PreparedText) -> frozenset[int]:
    """Return the indices of the words that start a clause."""
    later = (
        index
        for index, (left, right) in enumerate(pairwise(text.words), 1)
        if clause_ends_between(text.original, left.end, right.start)
    )
    return frozenset((0, *later) if text.words else ())


class TextCache:
    """An LRU cache of prepared texts by content, bounded in characters.

    One entry per text and language: a document that many answers cite is prepared once. Parses of persistent
    texts are also looked up and stored in a file.
    """

    def __init__(
        self, max_characters: int, parser: Parser | None = None, parse_cache: ParseCache | None = None
    ) -> None:
        """Keep at most ``max_characters`` of text in memory, and parses in ``parse_cache``, if any."""
        self._max_characters = max_characters
        self._parser = parser or default_parser()
        self._parse_cache = parse_cache
        self.hits = self.disk_hits = self.misses = 0
        self._characters = 0
        self._texts: OrderedDict[tuple[str, str], PreparedText] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of cached texts."""
        return len(self._texts)

    def prepare(self, original: str, lexicon: Lexicon, persistent: bool = False) -> PreparedText:
        """Return the prepared text, cached if possible; a persistent one may have its parse in the file."""
        key = (lexicon.language, original)
        prepared = self._texts.get(key)
        in_memory = prepared is not None
        prepared = prepared or PreparedText.of(original, lexicon, parser=self._parser)
        on_disk = (
            persistent and self._parse_cache is not None and self._parse_cache.restore(prepared.whole_parse)
        )
        self.hits += in_memory
        self.disk_hits += on_disk and not in_memory
        self.misses += not (in_memory or on_disk)
        if in_memory:
            self._texts.move_to_end(key)
            return prepared
        self._texts[key] = prepared
        self._characters += len(original)
        while self._characters > self._max_characters and self._texts:
            (_, evicted), _ = self._texts.popitem(last=False)
            self._characters -= len(evicted)
        return prepared


@dataclass(frozen=True, slots=True)
class PreparedPassage:
    """A prepared document of the context, shared by all answers that cite it.

    ``body_start``: where the document's own text starts in ``text``, after its title; None where ``text`` is
    a translation. ``offset``: where that is in the whole document, of which it may be a part.
    """

    document_id: str
    text: PreparedText
    version: str | None = None
    body_start: int | None = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class PreparedExchange(_Memoizing):
    """The prepared texts of one exchange, all in one language.

    ``answer`` is compared without its greeting and closing, ``whole_answer`` with them, since what looks like
    a closing may name a component; None where ``answer`` is whole. ``company_terms``: the folded terms of the
    company, if known. ``support_probabilities``: a verifier's probability that the documents support a claim,
    by the claim's index; None without a verifier. ``quoted_document_id``: the published document that the
    whole answer quotes and the question names. No cached value depends on the last two.
    """

    question: PreparedText
    answer: PreparedText
    context: tuple[PreparedPassage, ...]
    whole_answer: PreparedText | None = None
    company_terms: frozenset[str] | None = None
    support_probabilities: Mapping[int, float] | None = None
    quoted_document_id: str | None = None

    @classmethod
    def of_texts(cls, question: str, answer: str, *documents: str, language: str = "en") -> PreparedExchange:
        """Prepare plain texts of one language with the shipped lexicon and the default parser."""
        lexicon = load_shipped()[language]
        prepared = [PreparedText.of(text, lexicon) for text in (question, answer, *documents)]
        passages = (PreparedPassage(f"d-{n}", text) for n, text in enumerate(prepared[2:]))
        return cls(prepared[0], prepared[1], tuple(passages))
