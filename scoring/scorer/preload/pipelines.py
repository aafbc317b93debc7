"""Loads the default pipelines on top of ``models``: some 80 MB a process, and a start without waiting."""

from contextlib import suppress

import scoring.scorer.preload.models  # noqa: F401
from scoring.lexicon import load_shipped
from scoring.scorer.preload import loading
from scoring.text.parsing import PipelineError, default_parser
from scoring.text.parsing.parse_cache import pipeline_fingerprint

with loading():
    for _language in load_shipped():
        # The settings may name another pipeline; if not, the scorer reports the error.
        with suppress(PipelineError, OSError):
            pipeline_fingerprint(default_parser().load(_language))  # cached for every scorer
