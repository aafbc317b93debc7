"""spaCy, the lexicons and the model that identifies languages."""

import gc
from concurrent.futures import ThreadPoolExecutor

from scoring.lexicon import load_shipped
from scoring.text.language_detection import load_model

# To unpack the model leaves the interpreter free. The thread is gone before anything is forked.
with ThreadPoolExecutor(1) as _thread:
    _model = _thread.submit(load_model)
    import spacy  # noqa: F401

    load_shipped()
    _model.result()

# The garbage collector writes to what it looks at, and what is written to is no longer shared.
gc.freeze()
