"""Frog, a tagger, lemmatiser and parser of Dutch: running it and reading its columns."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

# Frog reads the files of its parser at every start, and parses long sentences in cubic time and memory.
_SENTENCES_A_RUN = 500
_LONGEST_PARSED = 70
_RUN_SECONDS = 1800

_TAG = re.compile(r"[A-Z]+\([^)]*\)")
_NAME_TAGS = ("SPEC(deeleigen)", "N(eigen", "SPEC(vreemd)")


@dataclass(frozen=True, slots=True)
class FrogToken:
    """One token: ``head`` is the index of its head in the sentence, -1 for a root.

    ``tag`` is a tag of the CGN set such as ``WW(pv,tgw,ev)``, ``label`` one of Frog's relations.
    """

    text: str
    lemma: str
    tag: str
    head: int
    label: str


def read_frog(lines: Iterable[str]) -> Iterator[tuple[FrogToken, ...]]:
    """Yield the sentences of Frog's tab-separated output, its multi-word units split into words.

    The first word of a unit keeps the unit's relation; the others depend on it, labelled ``fixed``
    or, in names, ``flat``.
    """
    for filled, block in groupby(lines, key=lambda line: bool(line.strip())):
        if filled:
            yield tuple(_words([line.rstrip("\n").split("\t") for line in block]))


def _words(rows: list[list[str]]) -> Iterator[FrogToken]:
    units = [_split(row) for row in rows]
    first = [0]
    for texts, _, _ in units:
        first.append(first[-1] + len(texts))
    for number, (row, (texts, lemmas, tags)) in enumerate(zip(rows, units, strict=True)):
        head, label = int(row[10] or 0), row[11]
        yield FrogToken(texts[0], lemmas[0], tags[0], first[head - 1] if head else -1, label)
        inner = "flat" if tags[0].startswith(_NAME_TAGS) else "fixed"
        for text, lemma, tag in zip(texts[1:], lemmas[1:], tags[1:], strict=True):
            yield FrogToken(text, lemma, tag, first[number], inner)


def _split(row: list[str]) -> tuple[list[str], list[str], list[str]]:
    text, lemma, tags = row[1], row[2], _TAG.findall(row[4])
    texts, lemmas = text.split("_"), lemma.split("_")
    if len(tags) == len(texts) == len(lemmas):
        return texts, lemmas, tags
    return [text], [lemma], tags[:1]


def run_frog(sentences: list[str], folder: Path) -> list[Path]:
    """Parse ``sentences`` into files of ``folder`` and return them; parts already there are kept.

    Raises:
        FileNotFoundError: Frog is not installed.
        subprocess.SubprocessError: Frog failed, or took longer than half an hour for one part.
    """
    if shutil.which("frog") is None:
        raise FileNotFoundError("frog is not installed: apt-get install frog frogdata ucto uctodata")
    folder.mkdir(parents=True, exist_ok=True)
    starts = range(0, len(sentences), _SENTENCES_A_RUN)
    return [_part(sentences[start : start + _SENTENCES_A_RUN], folder / f"{start:06d}") for start in starts]


def _part(sentences: list[str], stem: Path) -> Path:
    columns, plain, partial = (stem.with_suffix(suffix) for suffix in (".tsv", ".txt", ".part"))
    if columns.exists():
        return columns
    plain.write_text("\n".join(sentences) + "\n", encoding="utf-8")
    command = ["frog", "--skip=acn", "-n", "--threads=1", f"--max-parser-tokens={_LONGEST_PARSED}"]
    with partial.open("wb") as out:
        subprocess.run(  # noqa: S603 -- a fixed command
            [*command, "-t", str(plain)],
            stdout=out,
            stderr=subprocess.DEVNULL,
            check=True,
            timeout=_RUN_SECONDS,
        )
    partial.replace(columns)
    return columns
