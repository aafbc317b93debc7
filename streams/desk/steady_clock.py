"""The clock of the desk's waits, which nobody can set."""

import time
from typing import Final

_STARTED: Final = time.time() - time.monotonic()


def steady_time() -> float:
    """Return seconds since 1970 as they were at the start of the process, plus those since then.

    A clock of the machine that is set back prolongs no wait, and one that is set ahead ends none.
    """
    return _STARTED + time.monotonic()
