"""The reader of lexicon files. It names the file, line and key of every mistake."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, TypeVar

from scoring.lexicon.lexicon import (
    ClaimWords,
    ClockWords,
    Lexicon,
    MessageTypePatterns,
    NumberWords,
    RefusalWords,
    SendingWords,
)
from scoring.lexicon.phrases import FigureWords, PhraseList
from scoring.values.exchange import MessageType


@dataclass(frozen=True, slots=True)
class TomlSection:
    """A table of the file: its name (empty: the top) and which of the tables of that name, from 0."""

    name: str = ""
    index: int = 0


class LineLocator:
    r"""Line numbers, from 1, in the text of one file.

    >>> LineLocator('a = 1\n[t]\na = ["x",\n"x"]').line(TomlSection("t"), "a", "x", occurrence=1)
    4
    """

    def __init__(self, text: str) -> None:
        """Look at ``text``, which is valid TOML."""
        self._lines = text.split("\n")

    def line(self, section: TomlSection, key: str, value: object = None, occurrence: int = 0) -> int:
        """Return the line of a value at or after its key in a section, else of the key, else of the section.

        ``occurrence`` 1 asks for the second place of a text that is listed twice.
        """
        first, end = self._bounds(section)
        at_key = self._line_of_key(key, range(first, end))
        if at_key is None:
            # A table stands below what is at the top.
            at_key = self._line_of_key(rf"[{key}", range(end, len(self._lines))) if not section.name else None
        if at_key is None:
            return first + 1
        if not isinstance(value, str):
            return at_key + 1
        quoted = re.compile(rf"(['\"]){re.escape(value)}\1")
        hits = [n for n in range(at_key, end) for _ in quoted.findall(self._lines[n])]
        return (hits[occurrence] if len(hits) > occurrence else at_key) + 1

    def _line_of_key(self, key: str, lines: range) -> int | None:
        named = re.compile(rf"\[?{re.escape(key)}\b")
        return next((n for n in lines if named.match(self._lines[n].strip())), None)

    def _bounds(self, section: TomlSection) -> tuple[int, int]:
        header = re.compile(r"\[{1,2}[\w. ]{1,200}\]")
        headers = [n for n, line in enumerate(self._lines) if header.match(line.strip())]
        named = rf"\[{{1,2}} {{0,20}}{re.escape(section.name)} {{0,20}}\]"
        own = [n for n in headers if re.match(named, self._lines[n].strip())] if section.name else [0]
        first = own[section.index] if section.index < len(own) else 0
        return first, next((n for n in headers if n > first), len(self._lines))


T = TypeVar("T")
_Model = Lexicon | RefusalWords | ClaimWords | ClockWords | NumberWords | FigureWords | SendingWords

_PATTERN_KEYS = {"type", "phrases", "except", "in_statements"}
_TYPE_NAMES = {str: "a text", list: "a list", dict: "a table", bool: "true or false"}
_TOP_LEVEL = TomlSection()
# Whole lines: all other sets of the model are lists of single words.
_WHOLE_LINE_KEYS = {"neutral_titles", "thanks", "welcomes", "hellos", "replies"}
# Which tables features have is told by this one; the shipped ones have the same.
_REFERENCE_LANGUAGE = "en"
_MONTHS = 12


class LexiconError(ValueError):
    """A lexicon cannot be used; the message names file, line, key and reason."""


@cache
def load_shipped() -> Mapping[str, Lexicon]:
    """Return the lexicons of the package by language code, read once; raises LexiconError."""
    return MappingProxyType(_load(files("scoring.lexicon"), lambda file: _LexiconReader(file).read()))


def load_folder(folder: Traversable) -> dict[str, Lexicon]:
    """Return the lexicons of a folder (``<language>.toml``) by language code; raises LexiconError.

    A folder without any is a mistake in its name.
    """
    if not (found := _load(folder, load_lexicon)):
        raise LexiconError(f"{folder}: holds no lexicon, a file such as fr.toml")
    return found


def load_lexicons(folder: Traversable | None = None) -> dict[str, Lexicon]:
    """Return the lexicons of the package, replaced and added to by those of the folder ``own``.

    Raises LexiconError.
    """
    return {**load_shipped(), **(load_folder(folder) if folder else {})}


def load_lexicon(file: Traversable) -> Lexicon:
    """Read one lexicon file; raises LexiconError that names file, line, key and reason."""
    return _LexiconReader(file).read(reference=load_shipped()[_REFERENCE_LANGUAGE])


def _load(folder: Traversable, load: Callable[[Traversable], Lexicon]) -> dict[str, Lexicon]:
    try:
        names = sorted((entry for entry in folder.iterdir()), key=lambda entry: entry.name)
    except OSError as error:
        raise LexiconError(f"{folder}: {error.strerror}") from error
    found = [load(entry) for entry in names if entry.name.endswith(".toml")]
    return {lexicon.language: lexicon for lexicon in found}


class _LexiconReader:
    def __init__(self, file: Traversable) -> None:
        self._name = file.name
        text = self._text(file)
        try:
            self._content: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            reason, _, place = str(error).partition(" (at ")
            line = re.match(r"line (\d+)", place)
            at = int(line[1]) if line else text.count("\n") + 1
            raise LexiconError(f"{self._name}: line {at}: is not TOML: {reason}") from error
        self._places = LineLocator(text)

    def _text(self, file: Traversable) -> str:
        try:
            content = file.read_bytes()
        except OSError as error:
            raise LexiconError(f"{self._name}: {error.strerror}") from error
        try:
            # A byte order mark, as some editors write it, is no part of the text.
            return content.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise LexiconError(f"{self._name}: line {line}: is not UTF-8: {error.reason}") from error

    def read(self, reference: Lexicon | None = None) -> Lexicon:
        """Return the lexicon, which must have the features' tables that ``like`` has, if it is given."""
        top = self._content
        self._refuse_unknown(top, {field.name for field in fields(Lexicon)}, _TOP_LEVEL)
        return Lexicon(
            language=self._language(),
            message_types=tuple(self._message_types()),
            if_question=self._message_type(top, "if_question", _TOP_LEVEL),
            if_statement=self._message_type(top, "if_statement", _TOP_LEVEL),
            features=self._features(reference),
            refusal=RefusalWords(**self._table("refusal", RefusalWords)[2]),
            claims=self._claims(),
            figures=self._figures() if "figures" in top else None,
            clock=ClockWords(**self._table("clock", ClockWords)[2]) if "clock" in top else ClockWords(),
            numbers=self._numbers() if "numbers" in top else NumberWords(),
            sending=self._sending() if "sending" in top else None,
            plural_endings=tuple(self._strings(top, "plural_endings", _TOP_LEVEL)),
            **self._lists(Lexicon, top, _TOP_LEVEL),
        )

    def _language(self) -> str:
        code = self._value(self._content, "language", str, _TOP_LEVEL)
        if not re.fullmatch("[a-z]{2}", code) or f"{code}.toml" != self._name:
            reason = f"{code!r} is not the ISO 639-1 code that names the file"
            raise self._error(_TOP_LEVEL, "language", reason, code)
        return code

    def _message_types(self) -> Iterable[MessageTypePatterns]:
        for number, table in enumerate(self._value(self._content, "message_types", list, _TOP_LEVEL)):
            section = TomlSection("message_types", number)
            self._refuse_unknown(table, _PATTERN_KEYS, section)
            yield MessageTypePatterns(
                self._message_type(table, "type", section),
                self._phrases(table, "phrases", section),
                self._phrases({"except": [], **table}, "except", section),
                self._value({"in_statements": False, **table}, "in_statements", bool, section),
            )

    def _features(self, reference: Lexicon | None) -> dict[str, dict[str, PhraseList]]:
        tables = self._value(self._content, "features", dict, _TOP_LEVEL)
        lists = reference.features if reference else tables
        self._refuse_unknown(
            {f"features.{name}": table for name, table in tables.items()},
            {f"features.{name}" for name in lists},
            _TOP_LEVEL,
        )
        return {name: self._feature(name, set(lists[name])) for name in lists}

    def _feature(self, name: str, lists: set[str]) -> dict[str, PhraseList]:
        table = self._value(self._content["features"], name, dict, _TOP_LEVEL)
        section = TomlSection(f"features.{name}")
        self._refuse_unknown(table, lists, section)
        return {key: self._phrases(table, key, section) for key in lists}

    def _numbers(self) -> NumberWords:
        table, section, lists = self._table("numbers", NumberWords)
        words, inner = self._value(table, "words", dict, section), TomlSection("numbers.words")
        for number in words:
            if not re.fullmatch(r"\d{1,9}(/[1-9]\d?)?", number):
                raise self._error(inner, number, f"{number!r} is neither a number nor a fraction")
        return NumberWords(
            ratios=tuple(self._strings(table, "ratios", section)),
            words={number: tuple(self._strings(words, number, inner)) for number in words},
            units=self._named_words(table, "units", section),
            periods=self._named_words(table, "periods", section),
            **lists,
        )

    def _claims(self) -> ClaimWords:
        table, section, lists = self._table("claims", ClaimWords)
        words = self._words(table, "numbers", section)
        return ClaimWords(numbers={word: value for value, word in enumerate(words, 2)}, **lists)

    def _sending(self) -> SendingWords:
        table, section, lists = self._table("sending", SendingWords)
        deeds = self._named_words(table, "deeds", section)
        return SendingWords(
            openers=tuple(tuple(line.split()) for line in self._strings(table, "openers", section)),
            deeds={form: base for base, forms in deeds.items() for form in (base, *forms)},
            **lists,
        )

    def _figures(self) -> FigureWords:
        table, section, lists = self._table("figures", FigureWords)
        months = self._groups(table, "months", section)
        if len(months) != _MONTHS:
            raise self._error(section, "months", f"has {len(months)} groups, not {_MONTHS}")
        if (sign := self._value(table, "decimal_sign", str, section)) not in {".", ","}:
            raise self._error(section, "decimal_sign", f"{sign!r} is neither a point nor a comma", sign)
        return FigureWords(
            decimal_sign=sign,
            day_first=self._value(table, "day_first", bool, section),
            months=months,
            same=self._groups(table, "same", section),
            units=self._named_words(table, "units", section),
            scales=self._scales(table, section),
            **lists,
        )

    def _table(self, key: str, model: type[_Model]) -> tuple[dict[str, Any], TomlSection, dict[str, Any]]:
        """Return the table that a model is read from, its place, and what its lists hold."""
        section, table = TomlSection(key), self._value(self._content, key, dict, _TOP_LEVEL)
        self._refuse_unknown(table, {field.name for field in fields(model)}, section)
        return table, section, self._lists(model, table, section)

    def _groups(self, table: dict[str, Any], key: str, section: TomlSection) -> tuple[tuple[str, ...], ...]:
        """Read lists of single words."""
        groups = self._value(table, key, list, section)
        for group in groups:
            if not isinstance(group, list):
                raise self._error(section, key, f"{group!r} is not a list", group)
        return tuple(tuple(self._words({key: group}, key, section)) for group in groups)

    def _named_words(
        self, table: dict[str, Any], key: str, section: TomlSection
    ) -> dict[str, tuple[str, ...]]:
        """Read a table of lists of single words."""
        inner = TomlSection(f"{section.name}.{key}")
        lists = self._value(table, key, dict, section)
        return {name: tuple(self._words(lists, name, inner)) for name in lists}

    def _scales(self, table: dict[str, Any], section: TomlSection) -> dict[str, tuple[str, ...]]:
        scales = self._named_words(table, "scales", section)
        for power in scales:
            if not re.fullmatch("[1-9]|1[0-2]", power):
                reason = f"{power!r} is not a power of ten from 1 to 12"
                raise self._error(TomlSection("figures.scales"), power, reason)
        return scales

    def _message_type(self, table: dict[str, Any], key: str, section: TomlSection) -> MessageType:
        name = self._value(table, key, str, section)
        if name not in set(MessageType):
            raise self._error(section, key, f"{name!r} is not one of {', '.join(MessageType)}", name)
        return MessageType(name)

    def _lists(self, model: type[_Model], table: dict[str, Any], section: TomlSection) -> dict[str, Any]:
        """Read every list of single words, whole lines or phrases that the model has a field for."""
        found: dict[str, Any] = {}
        for name, kind in ((field.name, field.type) for field in fields(model)):
            if kind == "frozenset[str]":
                read = self._strings if name in _WHOLE_LINE_KEYS and model is SendingWords else self._words
                found[name] = frozenset(read(table, name, section))
            elif kind == "PhraseList":
                found[name] = self._phrases(table, name, section)
        return found

    def _words(self, table: dict[str, Any], key: str, section: TomlSection) -> list[str]:
        texts = self._listed(table, key, section)
        for text in texts:
            if not _is_plain(text):
                raise self._error(section, key, f"{text!r} is not one plain word", text)
        return texts

    def _phrases(self, table: dict[str, Any], key: str, section: TomlSection) -> PhraseList:
        return PhraseList(self._listed(table, key, section))

    def _listed(self, table: dict[str, Any], key: str, section: TomlSection) -> list[str]:
        phrases = self._strings(table, key, section)
        for phrase in phrases:
            try:
                PhraseList([phrase])
            except ValueError as error:
                raise self._error(section, key, str(error), phrase) from error
        return phrases

    def _strings(self, table: dict[str, Any], key: str, section: TomlSection) -> list[str]:
        values = self._value(table, key, list, section)
        seen: set[str] = set()
        for value in values:
            if not isinstance(value, str) or not value.strip():
                raise self._error(section, key, f"{value!r} is not a non-empty text", value)
            if value in seen:
                raise self._error(section, key, f"{value!r} is listed twice", value, occurrence=1)
            seen.add(value)
        return values

    def _value(self, table: dict[str, Any], key: str, kind: type[T], section: TomlSection) -> T:
        if key not in table:
            raise self._error(section, key, "is missing")
        if not isinstance(table[key], kind):
            raise self._error(section, key, f"is not {_TYPE_NAMES[kind]}")
        value: T = table[key]
        return value

    def _refuse_unknown(self, table: dict[str, Any], known: set[str], section: TomlSection) -> None:
        if not isinstance(table, dict):
            raise self._error(_TOP_LEVEL, section.name, "is not a table")
        for key in table:
            if key not in known:
                raise self._error(section, key, "is not a key of a lexicon")

    def _error(
        self, section: TomlSection, key: str, reason: str, value: object = None, occurrence: int = 0
    ) -> LexiconError:
        line = self._places.line(section, key, value, occurrence)
        return LexiconError(f"{self._name}: line {line}: {key}: {reason}")


def _is_plain(word: str) -> bool:
    return word.replace("'", "").isalnum()
