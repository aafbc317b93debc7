"""The removal of what a text may hold to steer a model beside its words.

Data cannot be kept apart from instructions by marks alone where the server reads marks of its own in it: a
chat template knows turns by tokens such as ``<|im_start|>``, and most servers take them for such in a
message too. So they are broken up. Characters that nobody sees, which can spell whole instructions, go.
"""

from __future__ import annotations

import re

from scoring.judges.texts.edited import Edited
from scoring.text.invisible import INVISIBLE

_HALF = re.compile("[\ud800-\udfff]")
# Of ChatML and Llama 3, DeepSeek, Llama 2 and Mistral, Gemma, and the older sentence marks.
_TEMPLATE = re.compile(
    r"<[|｜]|[|｜]>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|gMASK)\]|<</?SYS>>"
    r"|</?(?:s|bos|eos|pad|unk|sop|eop|start_of_turn|end_of_turn|think|tool_call|tool_response)>",
    re.IGNORECASE,
)


def cleaned(text: str) -> Edited:
    """Return a text that a model reads as a person does: nothing unseen, no marks of a chat template."""
    seen = Edited(text).replaced(_HALF, lambda _: "\ufffd").replaced(INVISIBLE, lambda _: "")
    # Marks may share a sign: of "<|>" the second is found once the first is broken up.
    while (broken := seen.replaced(_TEMPLATE, _spaced)) is not seen:
        seen = broken
    return seen


def _spaced(match: re.Match[str]) -> str:
    mark = match.group()
    return f"{mark[0]} {mark[1:]}"
