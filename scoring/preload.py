"""Imported by a fork server, so that the processes it forks share what they would each load.

Shared are spaCy, the default pipelines, the lexicons and the model that identifies languages: some
80 MB a process, and a start without waiting.
"""

import gc
from contextlib import suppress

from scoring.language import load_model
from scoring.lexicon import load_shipped
from scoring.parsing import PipelineError, default_parser

load_model()
for _language in load_shipped():
    with suppress(PipelineError):  # another may be named in its place; where none is, the scorer tells
        default_parser().load(_language)

# The garbage collector writes to what it looks at, and what is written to is no longer shared.
gc.freeze()
