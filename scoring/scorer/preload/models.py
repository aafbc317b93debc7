"""Loads spaCy, the lexicons and the language identification model."""

from concurrent.futures import ThreadPoolExecutor

from scoring.lexicon import load_shipped
from scoring.scorer.preload import loading
from scoring.text.language_detection import load_model

# Unpacking the model releases the GIL. The thread ends before any fork.
with loading(), ThreadPoolExecutor(1) as _thread:
    _model = _thread.submit(load_model)
    import spacy  # noqa: F401

    load_shipped()
    _model.result()
