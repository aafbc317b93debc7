"""The judges: methods that ask a language model for an opinion on an answer, without any input or output."""

from scoring.judges.case import (
    Case,
    Example,
    ExamplesError,
    JudgeOptions,
    ReferenceAnswer,
    ReferenceDocuments,
    read_examples,
    read_examples_file,
)
from scoring.judges.methods import METHODS
from scoring.judges.opinions import ask, opinion_key, prompt_version
from scoring.judges.requests import (
    Failure,
    Finish,
    Message,
    OpinionRounds,
    Outcome,
    Reply,
    ReplySchema,
    Request,
    Token,
    advance,
    drive,
    drive_async,
)

__all__ = [
    "METHODS",
    "Case",
    "Example",
    "ExamplesError",
    "Failure",
    "Finish",
    "JudgeOptions",
    "Message",
    "OpinionRounds",
    "Outcome",
    "ReferenceAnswer",
    "ReferenceDocuments",
    "Reply",
    "ReplySchema",
    "Request",
    "Token",
    "advance",
    "ask",
    "drive",
    "drive_async",
    "opinion_key",
    "prompt_version",
    "read_examples",
    "read_examples_file",
]
