"""The judges: methods that ask a language model for an opinion on an answer, without any input or output."""

from scoring.judges.case import Case, Documents, Expected
from scoring.judges.driving import advance, drive, drive_async
from scoring.judges.examples import Example, ExamplesError, read_examples, read_examples_file
from scoring.judges.keys import opinion_key
from scoring.judges.methods import METHODS
from scoring.judges.opinions import ask, prompt_version
from scoring.judges.options import JudgeOptions
from scoring.judges.requests import (
    Asking,
    Failure,
    Finish,
    Message,
    Outcome,
    Reply,
    ReplySchema,
    Request,
    Token,
)

__all__ = [
    "METHODS",
    "Asking",
    "Case",
    "Documents",
    "Example",
    "ExamplesError",
    "Expected",
    "Failure",
    "Finish",
    "JudgeOptions",
    "Message",
    "Outcome",
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
