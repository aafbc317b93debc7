"""Modules for a fork server to import, so that forked processes share their memory.

``models`` is what every text needs; ``pipelines`` adds the spaCy pipelines.
"""

import gc

# Nothing that they load is garbage; to look for some takes a sixth of the time. Each allows it at its end.
gc.disable()
