"""The fences around data in a request: a mark that no text inside can hold.

Each part, such as the question or one document, stands between two lines with its name and the mark. The mark
is a hash of the parts themselves, with no random number, so that the same request is the same bytes, can be
kept, and can be made again for a batch file. Nor does it need a secret: whoever writes a part to hold the
mark changes the parts, and with them the mark. Should one of 2^64 hold it even so, the next mark is
taken, until none of the parts has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.judges.texts.hashing import hash_of

_BYTES = 8


@dataclass(frozen=True, slots=True)
class Part:
    """A text under a name of ours; the text is the only thing in it that others wrote."""

    name: str
    text: str


def fenced(purpose: str, parts: Sequence[Part]) -> str:
    """Return the parts, each between two lines with the mark, and before them the line that tells the mark.

    ``purpose`` goes into the mark: requests for different things have different ones.
    """
    mark = mark_for(purpose, parts)
    blocks = (f"[{part.name} {mark}]\n{part.text}\n[/{part.name} {mark}]" for part in parts)
    return "\n\n".join([f"The mark is {mark}.", *blocks])


def mark_for(purpose: str, parts: Sequence[Part]) -> str:
    """Return the mark: the first of a series of hashes that stands in none of the parts."""
    attempt = 0
    texts = [text for part in parts for text in (part.name, part.text)]
    while any(
        (mark := hash_of((purpose, str(attempt), *texts), _BYTES)) in part.text.lower() for part in parts
    ):
        attempt += 1
    return mark
