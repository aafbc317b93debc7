"""The reader of lexicon files, whose errors name file, line and key."""

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
    FigureWords,
    Lexicon,
    MessageTypePatterns,
    NumberWords,
    RefusalWords,
    SendingWords,
)
from scoring.lexicon.phrases import PhraseList
from scoring.values.exchange import MessageType


@dataclass(frozen=True, slots=True)
class TomlSection:
    """A table of the file by name (empty: the top level), and its index among the tables of that name."""

    name: str = ""
    index: int = 0


class LineLocator:
    r"""Finds the line numbers, from 1, of keys and values in the text of one file.

    >>> LineLocator('a = 1\n[t]\na = ["x",\n"x"]').line(TomlSection("t"), "a", "x", occurrence=1)
    4
    """

    def __init__(self, text: str) -> None:
        """Parse the text of a valid TOML file."""
        self._lines = text.split("\n")

    def line(self, section: TomlSection, key: str, value: object = None, occurrence: int = 0) -> int:
        """Return the line of a value at or after its key in a section, else of the key, else of the section.

        ``occurrence`` 1 finds the second mention of a value that is listed twice.
        """
        start, end = self._section_bounds(section)
        key_index = self._key_index(key, range(start, end))
        if key_index is None and not section.name:
            # A table is below the top level.
            key_index = self._key_index(rf"[{key}", range(end, len(self._lines)))
        if key_index is None:
            return start + 1
        if not isinstance(value, str):
            return key_index + 1
        quoted = re.compile(rf"(['\"]){re.escape(value)}\1")
        hits = [n for n in range(key_index, end) for _ in quoted.findall(self._lines[n])]
        return (hits[occurrence] if len(hits) > occurrence else key_index) + 1

    def _key_index(self, key: str, indices: range) -> int | None:
        pattern = re.compile(rf"\[?{re.escape(key)}\b")
        return next((n for n in indices if pattern.match(self._lines[n].strip())), None)

    def _section_bounds(self, section: TomlSection) -> tuple[int, int]:
        header = re.compile(r"\[{1,2}[\w. ]{1,200}\]")
        headers = [n for n, line in enumerate(self._lines) if header.match(line.strip())]
        own_header = rf"\[{{1,2}} {{0,20}}{re.escape(section.name)} {{0,20}}\]"
        own = [n for n in headers if re.match(own_header, self._lines[n].strip())] if section.name else [0]
        start = own[section.index] if section.index < len(own) else 0
        return start, next((n for n in headers if n > start), len(self._lines))


T = TypeVar("T")
_Model = Lexicon | RefusalWords | ClaimWords | ClockWords | NumberWords | FigureWords | SendingWords

_PATTERN_KEYS = {"type", "phrases", "except", "in_statements"}
_TYPE_NAMES = {str: "a text", list: "a list", dict: "a table", bool: "true or false"}
_TOP_LEVEL = TomlSection()
# Lists of whole lines; all other sets are lists of single words.
_WHOLE_LINE_KEYS = {"neutral_titles", "thanks", "welcomes", "hellos", "replies"}
# Every lexicon must have the feature tables of this one.
_REFERENCE_LANGUAGE = "en"
_MONTHS = 12


class LexiconError(ValueError):
    """A lexicon cannot be used; the message names file, line, key and reason."""


@cache
def load_shipped() -> Mapping[str, Lexicon]:
    """Return the package's lexicons by language code, cached; raises LexiconError."""
    return MappingProxyType(_load(files("scoring.lexicon"), lambda file: _LexiconReader(file).read()))


def load_folder(folder: Traversable) -> dict[str, Lexicon]:
    """Return the lexicons of a folder (``<language>.toml``) by language code.

    Raises:
        LexiconError: a file is invalid, or there is none.
    """
    if not (lexicons := _load(folder, load_lexicon)):
        raise LexiconError(f"{folder}: holds no lexicon, a file such as fr.toml")
    return lexicons


def load_lexicons(folder: Traversable | None = None) -> dict[str, Lexicon]:
    """Return the package's lexicons, replaced and extended by those of the folder; raises LexiconError."""
    return {**load_shipped(), **(load_folder(folder) if folder else {})}


def load_lexicon(file: Traversable) -> Lexicon:
    """Read one lexicon file; raises LexiconError."""
    return _LexiconReader(file).read(reference=load_shipped()[_REFERENCE_LANGUAGE])


def _load(folder: Traversable, load: Callable[[Traversable], Lexicon]) -> dict[str, Lexicon]:
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except OSError as error:
        raise LexiconError(f"{folder}: {error.strerror}") from error
    lexicons = [load(entry) for entry in entries if entry.name.endswith(".toml")]
    return {lexicon.language: lexicon for lexicon in lexicons}


class _LexiconReader:
    def __init__(self, file: Traversable) -> None:
        self._name = file.name
        try:
            content = file.read_bytes()
            # Some editors write a byte order mark.
            text = content.decode("utf-8-sig").replace("\r\n", "\n")
            self._content: dict[str, Any] = tomllib.loads(text)
        except OSError as error:
            raise LexiconError(f"{self._name}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            line_number = content.count(b"\n", 0, error.start) + 1
            raise LexiconError(f"{self._name}: line {line_number}: is not UTF-8: {error.reason}") from error
        except tomllib.TOMLDecodeError as error:
            reason, _, position = str(error).partition(" (at ")
            match = re.match(r"line (\d+)", position)
            line_number = int(match[1]) if match else text.count("\n") + 1
            raise LexiconError(f"{self._name}: line {line_number}: is not TOML: {reason}") from error
        self._locator = LineLocator(text)

    def read(self, reference: Lexicon | None = None) -> Lexicon:
        """Return the lexicon, which must have the same feature tables as the reference, if there is one."""
        top = self._content
        self._refuse_unknown(top, {field.name for field in fields(Lexicon)}, _TOP_LEVEL)
        optional: dict[str, Callable[[], Any]] = {
            "figures": self._figures,
            "clock": lambda: ClockWords(**self._table("clock", ClockWords)[2]),
            "numbers": self._numbers,
            "sending": self._sending,
        }
        return Lexicon(
            language=self._language(),
            message_types=tuple(self._message_types()),
            if_question=self._message_type(top, "if_question"),
            if_statement=self._message_type(top, "if_statement"),
            features=self._features(reference),
            refusal=RefusalWords(**self._table("refusal", RefusalWords)[2]),
            claims=self._claims(),
            plural_endings=tuple(self._strings(top, "plural_endings")),
            **{key: read() for key, read in optional.items() if key in top},
            **self._lists(Lexicon, top, _TOP_LEVEL),
        )

    def _language(self) -> str:
        code = self._value(self._content, "language", str)
        if not re.fullmatch("[a-z]{2}", code) or f"{code}.toml" != self._name:
            reason = f"{code!r} is not the ISO 639-1 code that names the file"
            raise self._error(_TOP_LEVEL, "language", reason, code)
        return code

    def _message_types(self) -> Iterable[MessageTypePatterns]:
        for index, table in enumerate(self._value(self._content, "message_types", list)):
            section = TomlSection("message_types", index)
            self._refuse_unknown(table, _PATTERN_KEYS, section)
            yield MessageTypePatterns(
                self._message_type(table, "type", section),
                self._phrases(table, "phrases", section),
                self._phrases({"except": [], **table}, "except", section),
                self._value({"in_statements": False, **table}, "in_statements", bool, section),
            )

    def _features(self, reference: Lexicon | None) -> dict[str, dict[str, PhraseList]]:
        tables = self._value(self._content, "features", dict)
        lists = reference.features if reference else tables
        self._refuse_unknown(
            {f"features.{name}": table for name, table in tables.items()},
            {f"features.{name}" for name in lists},
            _TOP_LEVEL,
        )
        features = {}
        for name, keys in lists.items():
            table, section = self._value(tables, name, dict), TomlSection(f"features.{name}")
            self._refuse_unknown(table, set(keys), section)
            features[name] = {key: self._phrases(table, key, section) for key in keys}
        return features

    def _numbers(self) -> NumberWords:
        table, section, lists = self._table("numbers", NumberWords)
        words, inner = self._value(table, "words", dict, section), TomlSection("numbers.words")
        for number in words:
            if not re.fullmatch(r"\d{1,9}(/[1-9]\d?)?", number):
                raise self._error(inner, number, f"{number!r} is neither a number nor a fraction")
        return NumberWords(
            ratios=tuple(self._strings(table, "ratios", section)),
            words={number: tuple(self._strings(words, number, inner)) for number in words},
            units=self._words_by_name(table, "units", section),
            periods=self._words_by_name(table, "periods", section),
            **lists,
        )

    def _claims(self) -> ClaimWords:
        table, section, lists = self._table("claims", ClaimWords)
        words = self._words(table, "numbers", section)
        return ClaimWords(numbers={word: value for value, word in enumerate(words, 2)}, **lists)

    def _sending(self) -> SendingWords:
        table, section, lists = self._table("sending", SendingWords)
        deeds = self._words_by_name(table, "deeds", section)
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
        scales = self._words_by_name(table, "scales", section)
        for power in scales:
            if not re.fullmatch("[1-9]|1[0-2]", power):
                reason = f"{power!r} is not a power of ten from 1 to 12"
                raise self._error(TomlSection("figures.scales"), power, reason)
        return FigureWords(
            decimal_sign=sign,
            day_first=self._value(table, "day_first", bool, section),
            months=months,
            same=self._groups(table, "same", section),
            units=self._words_by_name(table, "units", section),
            scales=scales,
            **lists,
        )

    def _table(self, key: str, model: type[_Model]) -> tuple[dict[str, Any], TomlSection, dict[str, Any]]:
        """Return the table of a model, its section, and the model's lists in it."""
        section, table = TomlSection(key), self._value(self._content, key, dict)
        self._refuse_unknown(table, {field.name for field in fields(model)}, section)
        return table, section, self._lists(model, table, section)

    def _lists(self, model: type[_Model], table: dict[str, Any], section: TomlSection) -> dict[str, Any]:
        """Read the lists of single words, whole lines or phrases for which the model has a field."""
        lists: dict[str, Any] = {}
        for field in fields(model):
            if field.type == "frozenset[str]":
                is_whole = model is SendingWords and field.name in _WHOLE_LINE_KEYS
                read = self._strings if is_whole else self._words
                lists[field.name] = frozenset(read(table, field.name, section))
            elif field.type == "PhraseList":
                lists[field.name] = self._phrases(table, field.name, section)
        return lists

    def _groups(self, table: dict[str, Any], key: str, section: TomlSection) -> tuple[tuple[str, ...], ...]:
        """Read a list of lists of single words."""
        groups = self._value(table, key, list, section)
        for group in groups:
            if not isinstance(group, list):
                raise self._error(section, key, f"{group!r} is not a list", group)
        return tuple(tuple(self._words({key: group}, key, section)) for group in groups)

    def _words_by_name(
        self, table: dict[str, Any], key: str, section: TomlSection
    ) -> dict[str, tuple[str, ...]]:
        """Read a table of lists of single words."""
        inner = TomlSection(f"{section.name}.{key}")
        lists = self._value(table, key, dict, section)
        return {name: tuple(self._words(lists, name, inner)) for name in lists}

    def _message_type(
        self, table: dict[str, Any], key: str, section: TomlSection = _TOP_LEVEL
    ) -> MessageType:
        name = self._value(table, key, str, section)
        if name not in set(MessageType):
            raise self._error(section, key, f"{name!r} is not one of {', '.join(MessageType)}", name)
        return MessageType(name)

    def _words(self, table: dict[str, Any], key: str, section: TomlSection) -> list[str]:
        self._phrases(table, key, section)
        for word in (words := self._strings(table, key, section)):
            if not word.replace("'", "").isalnum():
                raise self._error(section, key, f"{word!r} is not one plain word", word)
        return words

    def _phrases(self, table: dict[str, Any], key: str, section: TomlSection) -> PhraseList:
        phrases = self._strings(table, key, section)
        for phrase in phrases:
            try:
                PhraseList([phrase])
            except ValueError as error:
                raise self._error(section, key, str(error), phrase) from error
        return PhraseList(phrases)

    def _strings(self, table: dict[str, Any], key: str, section: TomlSection = _TOP_LEVEL) -> list[str]:
        values = self._value(table, key, list, section)
        seen: set[str] = set()
        for value in values:
            if not isinstance(value, str) or not value.strip():
                raise self._error(section, key, f"{value!r} is not a non-empty text", value)
            if value in seen:
                raise self._error(section, key, f"{value!r} is listed twice", value, occurrence=1)
            seen.add(value)
        return values

    def _value(self, table: dict[str, Any], key: str, kind: type[T], section: TomlSection = _TOP_LEVEL) -> T:
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
        line_number = self._locator.line(section, key, value, occurrence)
        return LexiconError(f"{self._name}: line {line_number}: {key}: {reason}")
