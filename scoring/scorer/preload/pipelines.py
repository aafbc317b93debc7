"""The default pipelines, and all that is in ``models``: some 80 MB a process, and a start without waiting."""

import gc
from contextlib import suppress

import scoring.scorer.preload.models  # noqa: F401
from scoring.lexicon import load_shipped
from scoring.text.parsing import PipelineError, default_parser
from scoring.text.parsing.parse_cache import pipeline_fingerprint

for _language in load_shipped():
    # Another may be named in its place; where none is, or its files cannot be read, the scorer tells.
    with suppress(PipelineError, OSError):
        pipeline_fingerprint(default_parser().load(_language))  # and remember it: each scorer asks for it

gc.freeze()
