"""The fingerprint of what a parse depends on beside its text: whatever changes, the hash is another one."""

from __future__ import annotations

import sys
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from scoring.values.version import SCORER_VERSION

if TYPE_CHECKING:
    from spacy.language import Language

_BYTES = 16


def fingerprint(nlp: Language) -> bytes:
    """Return the hash of a loaded pipeline's files, the library that runs it, and the code around it.

    The content counts, not the name and version: a pipeline that was trained again may keep both. The
    lexicon does not: what a parse has from it is looked up anew. Takes some 3 ms for each MB of the
    pipeline, once a process. Raises OSError where its files cannot be read any more.
    """
    parts = (nlp.meta["lang"], SCORER_VERSION, version("spacy"), f"{sys.version_info[:2]}")
    # The folder is known of all that is loaded by name or path, which is how all are loaded.
    folder = Path(nlp.path or "")
    return _hash(*(part.encode() for part in parts), _own_code(), _content(folder))


@cache
def _own_code() -> bytes:
    # How texts are cut and what is kept of tokens: nobody has to remember to raise a number.
    sources = [entry for entry in files("scoring.text.parsing").iterdir() if entry.name.endswith(".py")]
    return _hash(*(entry.read_bytes() for entry in sorted(sources, key=lambda entry: entry.name)))


@cache
def _content(folder: Path) -> bytes:
    digest = blake2b(digest_size=_BYTES)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        digest.update(_hash(path.relative_to(folder).as_posix().encode(), content))
    return digest.digest()


def _hash(*parts: bytes) -> bytes:
    digest = blake2b(digest_size=_BYTES)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()
