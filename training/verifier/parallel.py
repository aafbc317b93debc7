"""The same passage in the other language: the documents stand in both, line by line."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from training.verifier.texts import LANGUAGES, Window, lines, sentences

_MOST_WORDS = 90

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Twin:
    """A document's text in the other language, and for each of its sentences where what it renders stands."""

    text: str
    places: Mapping[Place, Place]

    def rendering(self, window: Window) -> str | None:
        """Return what a window says in the other language; None where that is not known or too long."""
        held = [
            other for (start, end), other in self.places.items() if start < window.end and window.start < end
        ]
        if not held:
            return None
        found = self.text[min(start for start, _ in held) : max(end for _, end in held)]
        return found if len(found.split()) <= _MOST_WORDS else None


def twins(folder: Path, product: str, language: str) -> dict[str, Twin]:
    """Return the documents of a product that have as many lines in both languages, by their ids."""
    other = next(code for code in LANGUAGES if code != language)
    texts = {line["document_id"]: line["text"] for line in lines(folder / "documents", product, other)}
    made = {}
    for line in lines(folder / "documents", product, language):
        text = texts[line["document_id"]]
        if text.count("\n") == line["text"].count("\n"):
            made[line["document_id"]] = Twin(text, _matched(line["text"], text))
    return made


def _matched(own: str, other: str) -> dict[Place, Place]:
    """Match sentence by sentence the lines that have as many in both, and the others as a whole."""
    found: dict[Place, Place] = {}
    for (start, end), (other_start, other_end) in zip(_lines(own), _lines(other), strict=True):
        here, there = list(sentences(own, start, end)), list(sentences(other, other_start, other_end))
        if len(here) == len(there):
            found.update(zip(here, there, strict=True))
        elif here and there:
            found.update(dict.fromkeys(here, (there[0][0], there[-1][1])))
    return found


def _lines(text: str) -> list[Place]:
    places, start = [], 0
    for line in text.split("\n"):
        places.append((start, start + len(line)))
        start += len(line) + 1
    return places
