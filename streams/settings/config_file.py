"""The configuration file: which one it is, and whether it can be read."""

from __future__ import annotations

import os
import tomllib
from contextvars import ContextVar
from pathlib import Path

from streams.settings.base import WrongSettings, one_line

CONFIG_FILE_VARIABLE = "TRUTHGATE_CONFIG"

chosen_file: ContextVar[Path | None] = ContextVar("chosen_file", default=None)
"""The file that a caller of ``load_settings`` chose, while it reads."""


def config_file() -> Path | None:
    """Give the file that was chosen, else the one that TRUTHGATE_CONFIG names, else None."""
    named = os.environ.get(CONFIG_FILE_VARIABLE)
    return chosen_file.get() or (Path(named) if named else None)


def refuse_unreadable_file(path: Path | None) -> None:
    """Refuse a file that cannot be read, or is not TOML; None is no file.

    Raises:
        WrongSettings: in one line with the reason.
    """
    if path is None:
        return
    try:
        tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WrongSettings(f"the configuration file {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise WrongSettings(f"the configuration file {path} is not TOML: {one_line(str(error))}") from None
