"""Texts as judges read them: cleaned, fenced, shortened, and hashed for keys.

Data cannot be kept apart from instructions by marks alone where the server reads marks of its own in it: a
chat template knows turns by tokens such as ``<|im_start|>``, and most servers take them for such in a
message too. So they are broken up. Invisible characters, which can spell whole instructions, are removed.

Each part, such as the question or one document, is between two lines with its name and the mark. The mark
is a hash of the parts themselves, with no random number, so that the same request is the same bytes, can be
kept, and can be made again for a batch file. Nor does it need a secret: to write a part that has the
mark changes the parts, and with them the mark. Should one of 2^64 hold it even so, the next mark is
taken, until none of the parts has it.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import groupby

from scoring.judges.masking import EditedText
from scoring.text.characters import INVISIBLE
from scoring.values.exchange import Passage

_SURROGATE = re.compile("[\ud800-\udfff]")
# Of ChatML and Llama 3, DeepSeek, Llama 2 and Mistral, Gemma, and the older sentence marks.
_TEMPLATE_TOKEN = re.compile(
    r"<[|｜]|[|｜]>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|gMASK)\]|<</?SYS>>"
    r"|</?(?:s|bos|eos|pad|unk|sop|eop|start_of_turn|end_of_turn|think|tool_call|tool_response)>",
    re.IGNORECASE,
)


def clean(text: str) -> EditedText:
    """Return a text that a model reads as a person does: nothing unseen, no marks of a chat template."""
    seen = EditedText(text).replaced(_SURROGATE, lambda _: "\ufffd").replaced(INVISIBLE, lambda _: "")
    # Marks may share a sign: of "<|>" the second is found once the first is broken up.
    while (broken := seen.replaced(_TEMPLATE_TOKEN, _spaced)) is not seen:
        seen = broken
    return seen


def _spaced(match: re.Match[str]) -> str:
    mark = match.group()
    return f"{mark[0]} {mark[1:]}"


def hash_of(texts: Iterable[str], size: int) -> str:
    """Return a hash of texts in their order, in hexadecimal; ``size`` is in bytes."""
    digest = blake2b(digest_size=size)
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


_MARK_BYTES = 8


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A text under a name of ours; the text is the only thing in it that others wrote."""

    name: str
    text: str


def fence(purpose: str, parts: Sequence[PromptPart]) -> str:
    """Return the parts, each between two lines with the mark, after a line that names the mark.

    ``purpose`` goes into the mark: requests for different things have different ones.
    """
    mark = fence_mark(purpose, parts)
    blocks = (f"[{part.name} {mark}]\n{part.text}\n[/{part.name} {mark}]" for part in parts)
    return "\n\n".join([f"The mark is {mark}.", *blocks])


def fence_mark(purpose: str, parts: Sequence[PromptPart]) -> str:
    """Return the mark: the first of a series of hashes that is in none of the parts."""
    attempt = 0
    texts = [text for part in parts for text in (part.name, part.text)]
    while any(
        (mark := hash_of((purpose, str(attempt), *texts), _MARK_BYTES)) in part.text.lower() for part in parts
    ):
        attempt += 1
    return mark


#: The replacement for paragraphs that are left out.
OMISSION_MARK = "[...]"
_WORD = re.compile(r"\w+")
_PARAGRAPHS = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True, order=True)
class _Paragraph:
    document: int
    index: int
    text: str


def shorten_documents(documents: Sequence[Passage], query: str, max_characters: int) -> tuple[Passage, ...]:
    """Return the documents with only the paragraphs nearest to a text, at most ``max_characters``.

    Paragraphs keep their order, and ``[...]`` replaces those left out, except for whole documents.
    """
    if sum(len(document.text_with_title) for document in documents) <= max_characters:
        return tuple(documents)
    kept = sorted(_fit(_rank_paragraphs(_paragraphs(documents), query), max_characters))
    return tuple(
        replace(documents[number], text=_joined(paragraphs), title=None)
        for number, paragraphs in groupby(kept, key=lambda each: each.document)
    )


def best_passages(
    documents: Sequence[Passage], query: str, max_passages: int, max_characters: int
) -> tuple[str, ...]:
    """Return the paragraphs nearest to a text, ``most`` of them at most, in their own order."""
    kept = _fit(_rank_paragraphs(_paragraphs(documents), query)[:max_passages], max_characters)
    return tuple(each.text for each in sorted(kept))


def _rank_paragraphs(paragraphs: Sequence[_Paragraph], query: str) -> list[_Paragraph]:
    """Return the paragraphs by the words they share with a text, the rarer the word the more, best first."""
    wanted = _words(query)
    words = [_words(paragraph.text) for paragraph in paragraphs]
    held_by = Counter(word for each in words for word in each)
    weight = {word: math.log(1 + len(paragraphs) / held_by[word]) for word in wanted if word in held_by}
    # The sum of a set of floats would depend on the order of hashes, which differs by process.
    scores = [sum(weight[word] for word in sorted(wanted & each)) for each in words]
    order = sorted(range(len(paragraphs)), key=lambda number: (-scores[number], number))
    return [paragraphs[number] for number in order]


def _paragraphs(documents: Iterable[Passage]) -> list[_Paragraph]:
    return [
        _Paragraph(number, place, text)
        for number, document in enumerate(documents)
        for place, text in enumerate(_PARAGRAPHS.split(document.text_with_title))
        if text.strip()
    ]


def _fit(paragraphs: Iterable[_Paragraph], max_characters: int) -> list[_Paragraph]:
    kept: list[_Paragraph] = []
    room = max_characters
    for paragraph in paragraphs:
        # Of a paragraph that is too long by itself its beginning is better than nothing.
        text = paragraph.text if kept else paragraph.text[:max_characters]
        if len(text) <= room:
            kept.append(replace(paragraph, text=text))
            room -= len(text)
    return kept


def _joined(paragraphs: Iterable[_Paragraph]) -> str:
    texts: list[str] = []
    follows = 0
    for each in paragraphs:
        texts += [each.text] if each.index == follows else [OMISSION_MARK, each.text]
        follows = each.index + 1
    return "\n\n".join(texts)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))
