"""Texts and their translations, line by line: the sample knowledge base and chat log in Dutch and English."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Self

_OPENING = re.compile(r"\s*(?:(?:[-*•>]|#{1,6}|\d{1,3}[.)])\s+)*")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[.!?]\*\*)\s+")
_SAMPLE = ("documents", "answers", "guides")
_FIELDS = ("title", "text", "question", "answer")


class ParallelTexts:
    """Which English text renders which Dutch one, by line and by sentence or sentences of a line."""

    def __init__(self) -> None:
        self._known: dict[str, Counter[str]] = {}

    @classmethod
    def of_sample(cls) -> Self:
        """Read the sample knowledge base and chat log, whose English lines render the Dutch ones."""
        texts = cls()
        folder = files("streams") / "sample"
        for name in _SAMPLE:
            texts.add_files(folder / f"{name}.nl.jsonl", folder / f"{name}.en.jsonl")
        return texts

    def add_files(self, dutch: Any, english: Any) -> None:
        """Read two JSONL files whose records have the same ids."""
        translations = {_id(record): record for record in _records(english)}
        for record in _records(dutch):
            if translation := translations.get(_id(record)):
                for name in _FIELDS:
                    if name in record:
                        self.add(record[name], translation[name])

    def add(self, dutch: str, english: str) -> None:
        """Take in a text and its translation; they have the same lines."""
        for line, translation in zip(dutch.split("\n"), english.split("\n"), strict=True):
            self._add_line(_running(line), _running(translation))

    def translation(self, text: str) -> str | None:
        """Return the translation of a line, or of sentences of one; None for what is not known."""
        if not text.strip() or not (found := self._known.get(text.strip())):
            return None if text.strip() else text
        return found.most_common(1)[0][0]

    def renderings(self, line: str) -> set[str]:
        """Return all the translations of a line without its list mark: a translator sees no context."""
        return set(self._known.get(_running(line), ()))

    def is_ambiguous(self, line: str) -> bool:
        """Whether the line, or a sentence of it, has several translations."""
        running = _running(line)
        return any(len(self.renderings(part)) > 1 for part in (running, *_cut(running)))

    def _add_line(self, line: str, translation: str) -> None:
        self._note(line, translation)
        for cells in zip(line.split("|"), translation.split("|"), strict=False):
            self._note(*(cell.strip() for cell in cells))
        sentences, translations = _cut(line), _cut(translation)
        if len(sentences) == len(translations):
            for start in range(len(sentences)):
                for end in range(start + 1, len(sentences) + 1):
                    self._note(" ".join(sentences[start:end]), " ".join(translations[start:end]))

    def _note(self, text: str, translation: str) -> None:
        self._known.setdefault(text, Counter())[translation] += 1


def _records(file: Any) -> Iterator[dict[str, Any]]:
    return map(json.loads, file.read_text("utf-8").splitlines())


def _id(record: Mapping[str, Any]) -> str:
    return record.get("answer_id") or record["document_id"]


def _running(line: str) -> str:
    return _OPENING.sub("", line, count=1).strip()


def _cut(line: str) -> list[str]:
    return _BETWEEN_SENTENCES.split(line)
