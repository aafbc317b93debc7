"""The options of a scorer beside its profile."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ScorerOptions:
    """Where the scorer finds what it does not carry itself.

    ``pipelines``: pairs of a language code and the name of an installed spaCy package, or the path of
    a pipeline's folder, that serves this language instead of the default.
    ``cached_characters``: how much text of documents is kept prepared, the least recently used dropped;
    4 million characters are about 2,000 help documents, and take some 25 times as many bytes.
    ``kept_parses``: a file in which the parses of documents outlive the process, shared by those of one
    machine and bounded by ``kept_parses_mib``; None to keep none. Only documents that come from the
    store of documents (``Passage.version``) are kept there, never questions, answers, or what came with them.
    ``lexicons``: a folder of lexicon files (``fr.toml``) for further languages, each of which needs a
    pipeline too, or instead of those of the package.
    ``company_terms``: the file that ``truthgate company-terms build`` writes, or None to do without.
    ``on_demand``: whether a default pipeline is loaded when the first text of its language comes, which
    makes that one wait, instead of at the start; scoring processes do not count it in the answer's time.
    ``verifier``: the folder of a cross-encoder that is asked about claims in doubt
    (:func:`scoring.verifier.onnx.open_verifier`), or None to ask none; ``verifier_seconds``: for how long, an
    answer. Only a profile that checks claims opens it.
    ``timed``: whether an assessment tells when each part of it began and ended.
    """

    pipelines: tuple[tuple[str, str], ...] = ()
    company_terms: Path | None = None
    cached_characters: int = 4_000_000
    lexicons: Path | None = None
    kept_parses: Path | None = None
    kept_parses_mib: int = 500
    on_demand: bool = False
    verifier: Path | None = None
    verifier_seconds: float = 0.5
    timed: bool = False
