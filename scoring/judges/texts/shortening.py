"""The choice of passages where documents are longer than a request may be."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from scoring.values.types import Passage

#: What stands where paragraphs are left out.
LEFT_OUT = "[...]"
_WORD = re.compile(r"\w+")
_PARAGRAPHS = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True, order=True)
class _Paragraph:
    document: int
    place: int
    text: str


def shortened(documents: Sequence[Passage], near: str, longest: int) -> tuple[Passage, ...]:
    """Return the documents with only the paragraphs nearest to a text, ``longest`` characters at most.

    Paragraphs keep their order, and ``[...]`` stands for those left out, whole documents excepted.
    """
    if sum(len(document.read) for document in documents) <= longest:
        return tuple(documents)
    kept = sorted(_within(_nearest(_paragraphs(documents), near), longest))
    return tuple(
        replace(documents[number], text=_joined(paragraphs), title=None)
        for number, paragraphs in groupby(kept, key=lambda each: each.document)
    )


def best_passages(documents: Sequence[Passage], near: str, most: int, longest: int) -> tuple[str, ...]:
    """Return the paragraphs nearest to a text, ``most`` of them at most, in their own order."""
    kept = _within(_nearest(_paragraphs(documents), near)[:most], longest)
    return tuple(each.text for each in sorted(kept))


def _nearest(paragraphs: Sequence[_Paragraph], near: str) -> list[_Paragraph]:
    """Return the paragraphs by the words they share with a text, the rarer the word the more, best first."""
    wanted = _words(near)
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
        for place, text in enumerate(_PARAGRAPHS.split(document.read))
        if text.strip()
    ]


def _within(paragraphs: Iterable[_Paragraph], longest: int) -> list[_Paragraph]:
    kept: list[_Paragraph] = []
    room = longest
    for paragraph in paragraphs:
        # Of a paragraph that is too long by itself its beginning is better than nothing.
        text = paragraph.text if kept else paragraph.text[:longest]
        if len(text) <= room:
            kept.append(replace(paragraph, text=text))
            room -= len(text)
    return kept


def _joined(paragraphs: Iterable[_Paragraph]) -> str:
    texts: list[str] = []
    follows = 0
    for each in paragraphs:
        texts += [each.text] if each.place == follows else [LEFT_OUT, each.text]
        follows = each.place + 1
    return "\n\n".join(texts)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))
