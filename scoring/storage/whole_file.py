"""A file that is replaced as a whole: whoever reads it meanwhile sees the old or the new one."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: Path, text: str) -> None:
    """Write a text in place of what is at a path, so that it is there whole even after a power failure.

    Raises:
        OSError: it cannot be written; what was there still is.
    """
    partial = path.with_name(f"{path.name}.part")
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
