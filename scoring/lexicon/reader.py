"""Reads a lexicon and says exactly what is wrong with one that cannot be used."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

from scoring.lexicon.model import COMPLEXITY_KINDS, Lexicon, TypePatterns
from scoring.lexicon.phrases import PhraseList
from scoring.types import MessageType

T = TypeVar("T")

_WORD_LISTS = (
    "function_words",
    "fillers",
    "action_verbs",
    "instruction_verbs",
    "component_nouns",
    "path_openers",
    "keys",
    "step_words",
)
_PHRASE_LISTS = ("greetings", "closings", "emphasis")
_KEYS = {
    "language",
    "lead_ins",
    "if_question",
    "if_statement",
    "plural_endings",
    "complexity",
    "message_types",
}


class LexiconError(ValueError):
    """A lexicon cannot be used; the message names file, line, key and reason."""


def load_shipped() -> dict[str, Lexicon]:
    """Return the lexicons of the package by language code; raises LexiconError."""
    folder = files("scoring.lexicon")
    found = [load_lexicon(entry) for entry in folder.iterdir() if entry.name.endswith(".toml")]
    return {lexicon.language: lexicon for lexicon in sorted(found, key=lambda lexicon: lexicon.language)}


def load_lexicon(file: Traversable) -> Lexicon:
    """Read one lexicon file; raises LexiconError that names file, line, key and reason."""
    return _Reader(file).read()


class _Reader:
    def __init__(self, file: Traversable) -> None:
        self._name = file.name
        try:
            self._text = file.read_text(encoding="utf-8")
            self._content: dict[str, Any] = tomllib.loads(self._text)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise LexiconError(f"{self._name}: {error}") from error

    def read(self) -> Lexicon:
        self._refuse_unknown(self._content, _KEYS | set(_WORD_LISTS) | set(_PHRASE_LISTS))
        return Lexicon(
            language=self._language(),
            message_types=tuple(self._message_types()),
            if_question=self._message_type(self._content, "if_question"),
            if_statement=self._message_type(self._content, "if_statement"),
            complexity=self._complexity(),
            plural_endings=tuple(self._strings(self._content, "plural_endings")),
            greetings=self._phrases(self._content, "greetings"),
            closings=self._phrases(self._content, "closings"),
            lead_ins=frozenset(self._strings(self._content, "lead_ins")),
            emphasis=self._phrases(self._content, "emphasis"),
            **{key: frozenset(self._words(key)) for key in _WORD_LISTS},
        )

    def _language(self) -> str:
        code = self._value(self._content, "language", str)
        if not re.fullmatch("[a-z]{2}", code) or f"{code}.toml" != self._name:
            raise self._error("language", f"{code!r} is not the ISO 639-1 code that names the file", code)
        return code

    def _message_types(self) -> Iterable[TypePatterns]:
        for table in self._value(self._content, "message_types", list):
            self._refuse_unknown(table, {"type", "phrases"})
            yield TypePatterns(self._message_type(table, "type"), self._phrases(table, "phrases"))

    def _complexity(self) -> dict[str, PhraseList]:
        table = self._value(self._content, "complexity", dict)
        self._refuse_unknown(table, set(COMPLEXITY_KINDS))
        return {kind: self._phrases(table, kind) for kind in COMPLEXITY_KINDS}

    def _message_type(self, table: dict[str, Any], key: str) -> MessageType:
        name = self._value(table, key, str)
        if name not in set(MessageType):
            raise self._error(key, f"{name!r} is not one of {', '.join(MessageType)}", name)
        return MessageType(name)

    def _words(self, key: str) -> list[str]:
        words = self._strings(self._content, key)
        for word in words:
            self._check(key, word, lambda: PhraseList([word]))  # noqa: B023 - called at once
            if not word.replace("'", "").isalnum():
                raise self._error(key, f"{word!r} is not one plain word", word)
        return words

    def _phrases(self, table: dict[str, Any], key: str) -> PhraseList:
        phrases = self._strings(table, key)
        for phrase in phrases:
            self._check(key, phrase, lambda: PhraseList([phrase]))  # noqa: B023 - called at once
        return PhraseList(phrases)

    def _check(self, key: str, value: str, make: Callable[[], T]) -> T:
        try:
            return make()
        except ValueError as error:
            raise self._error(key, str(error), value) from error

    def _strings(self, table: dict[str, Any], key: str) -> list[str]:
        values = self._value(table, key, list)
        seen: set[str] = set()
        for value in values:
            if not isinstance(value, str) or not value.strip():
                raise self._error(key, f"{value!r} is not a non-empty string")
            if value in seen:
                raise self._error(key, f"{value!r} is listed twice", value)
            seen.add(value)
        return values

    def _value(self, table: dict[str, Any], key: str, kind: type[T]) -> T:
        if key not in table:
            raise LexiconError(f"{self._name}: {key} is missing")
        if not isinstance(table[key], kind):
            raise self._error(key, f"is not a {kind.__name__}")
        value: T = table[key]
        return value

    def _refuse_unknown(self, table: dict[str, Any], known: set[str]) -> None:
        if not isinstance(table, dict):
            raise LexiconError(f"{self._name}: {table!r} is not a table")
        for key in table.keys() - known:
            raise self._error(key, "is not a key of a lexicon")

    def _error(self, key: str, reason: str, value: str | None = None) -> LexiconError:
        return LexiconError(f"{self._name}: line {self._line_of(key, value)}: {key}: {reason}")

    def _line_of(self, key: str, value: str | None) -> int:
        """Find the line of a value at or after its key, else the line of the key, else 1."""
        lines = self._text.splitlines()
        starts = [n for n, line in enumerate(lines) if re.match(rf"\[*{re.escape(key)}\b", line.strip())]
        first = starts[0] if starts else 0
        if value is not None:
            hits = [n for n, line in enumerate(lines[first:], first) if f'"{value}"' in line]
            first = hits[0] if hits else first
        return first + 1
