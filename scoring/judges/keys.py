"""The key of an opinion: a hash of everything that went in, so that no case is asked about twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from scoring.judges.case import Case, Documents
from scoring.judges.opinions import prompt_version
from scoring.judges.options import JudgeOptions
from scoring.judges.texts.hashing import hash_of
from scoring.values.version import SCORER_VERSION

_BYTES = 20


def opinion_key(case: Case, method: str, options: JudgeOptions, models: Mapping[str, str]) -> str:
    """Return the key of the opinion that a method has on a case.

    ``models`` says which model, of which endpoint, stands behind each name in ``options.judges``: the same
    name for another model must not find the former's opinions. Of the texts only their hash is in it.
    Raises KeyError for an unknown method, and where a judge is not among the models.
    """
    named = {judge: models[judge] for judge in options.judges}
    parameters = asdict(options) | {
        "examples": [example.model_dump(mode="json") for example in options.examples]
    }
    settings = json.dumps([SCORER_VERSION, method, prompt_version(method), named, parameters], sort_keys=True)
    return hash_of((settings, case.question, case.answer, *_reference(case)), _BYTES)


def _reference(case: Case) -> Iterable[str]:
    if not isinstance(case.reference, Documents):
        return ("expected", case.reference.text)
    documents: Sequence[str] = [
        text
        for passage in case.reference.passages
        for text in (passage.document_id, passage.version or "", passage.read)
    ]
    return ("documents", *documents)
