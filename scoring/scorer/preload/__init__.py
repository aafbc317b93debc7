"""Modules for a fork server to import, so that forked processes share their memory.

``models`` is what every text needs; ``pipelines`` adds the spaCy pipelines.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Load inside what stays: it is never garbage, and the collector visits it neither now nor later.

    To look for garbage takes a sixth of the time; and the collector writes to the objects that it visits,
    which would end the sharing of their pages.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
