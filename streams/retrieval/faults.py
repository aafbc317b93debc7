"""What a failure of the index means: that it is slow, that its surroundings are at fault, or damage."""

from __future__ import annotations

import errno
import re
from enum import Enum, auto

from streams.retrieval.embedding import EmbeddingFailed
from streams.retrieval.indexed import NoIndex

# LanceDB says nearly all with RuntimeError or ValueError; what happened stands in the text alone, which
# may quote what was searched for and is never logged.
_SLOW = re.compile(r"[Tt]imed? ?out")
_SYSTEM_ERROR = re.compile(r"(?:os error |Os \{ code: )(\d+)")
_STORAGE = re.compile(r"store: \"(?:S3|GCS|MicrosoftAzure)|Generic (?:S3|GCS|MicrosoftAzure|HTTP|Http)")
_PANICS = {"PanicException", "RustPanic"}  # of LanceDB on files it does not expect; neither can be imported


class Fault(Enum):
    """What a failure proves."""

    SLOW = auto()
    """Time was up; the index may be as sound as ever."""
    SURROUNDINGS = auto()
    """A full disk, a missing right, an unreachable storage, no vectors: the index is not at fault."""
    DAMAGE = auto()
    """Files are missing, or hold what cannot be in them."""


def fault_of(error: BaseException) -> Fault:
    """Tell what a failed search or change of the index proves."""
    if isinstance(error, EmbeddingFailed | MemoryError | UnicodeError):
        return Fault.SURROUNDINGS
    if isinstance(error, NoIndex) or type(error).__name__ in _PANICS:
        return Fault.DAMAGE
    number = system_error(error)
    if number is not None:
        return Fault.DAMAGE if number == errno.ENOENT else Fault.SURROUNDINGS
    if isinstance(error, TimeoutError) or _SLOW.search(str(error)):
        return Fault.SLOW
    if _STORAGE.search(str(error)) or not isinstance(error, RuntimeError | ValueError | OSError):
        return Fault.SURROUNDINGS
    return Fault.DAMAGE


def system_error(error: BaseException) -> int | None:
    """Return the error number of the operating system, where an error has or tells one."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    told = _SYSTEM_ERROR.search(str(error))
    return int(told[1]) if told else None


def described(error: BaseException) -> str:
    """Describe what went wrong: a code of ours, of the operating system (``ENOSPC``), or an error's class."""
    if isinstance(error, EmbeddingFailed | NoIndex):
        return str(error)
    return errno.errorcode.get(system_error(error) or 0, type(error).__name__)
