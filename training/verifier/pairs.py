"""Pairs to learn from: a question, a claim and a passage, and whether the passage supports the claim.

Three sources. *Answers*: the rated answers with their marked mistakes, each claim with the passages that are
found for it as at run time, and with the one that decides. *Written*: claims that were written for a passage,
true ones, untrue ones and inventions. *Edits*: sentences of the documents, as they are and made untrue. Some
answers and written claims are kept apart to fit and to measure on.
"""

import random
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product as product_of
from pathlib import Path

from scoring.text.prepared_text import folded_words
from training.packed import read_lines
from training.verifier.edits import Edited, components_of, edited
from training.verifier.texts import (
    LANGUAGES,
    Context,
    Line,
    Span,
    Window,
    answers,
    claims,
    context,
    lexicon,
    lines,
    overlap,
    sentences,
    stems,
)

SUPPORTED, CONTRADICTED, ABSENT = range(3)

#: What is not in the documents; every other kind of mistake has something there that it differs from.
_NOT_THERE = frozenset({"hallucination", "harmless_addition"})
_REFUSED = "wrong_refusal"
# A claim that shares less with the best window was said in words that cannot be found there, or elsewhere.
_ENOUGH = 0.3
# A window that holds less of a claim than that share of the best one's hardly says the same.
_OTHER = 0.6
_RANKED = 6
_KEPT_APART = 5
_SHORTEST, _LONGEST = 6, 35
_WRITTEN_APART = 10


@dataclass(frozen=True, slots=True)
class Pair:
    """``marks`` are the untrue words of the claim by their offsets; ``label`` is a place in LABELS."""

    question: str
    claim: str
    passage: str
    label: int
    marks: tuple[tuple[int, int], ...]
    language: str
    source: str


def is_kept_apart(answer_id: str) -> bool:
    """Say whether an answer is one of the fifth of the development products that is not trained on."""
    return zlib.crc32(answer_id.encode()) % _KEPT_APART == 0


def answer_pairs(
    folder: Path,
    products: Sequence[str],
    chance: random.Random,
    *,
    kept_apart: bool | None = False,
    across: float = 0.0,
) -> Iterator[Pair]:
    """Yield the pairs of answers: of those that are kept apart, of the others, or of both (None).

    ``across``: the share of the pairs that come a second time, with their passage in the other language,
    where no words are shared.
    """
    for language, product in product_of(LANGUAGES, products):
        renderings = twins(folder, product, language) if across else {}
        for line, found in answers(folder, [product], language):
            if kept_apart in (None, is_kept_apart(line["answer_id"])):
                for pair, window in _of_answer(line, found, language, chance):
                    yield pair
                    twin = renderings.get(window.document_id)
                    if pair.source == "answer" and twin and chance.random() < across:
                        passage = twin.rendering(window)
                        if passage:
                            yield replace(pair, passage=passage, source="answer across")


def written_pairs(folder: Path, *, kept_apart: bool) -> Iterator[Pair]:
    """Yield the pairs of ``written``: of the tenth of its passages that is kept apart, or of the others."""
    for path in sorted((folder / "written").glob("*.jsonl.gz")):
        for line in read_lines(path):
            if kept_apart == (zlib.crc32(line["passage"].encode()) % _WRITTEN_APART == 0):
                yield from _of_passage(line)


def edit_pairs(folder: Path, products: Sequence[str], count: int, chance: random.Random) -> Iterator[Pair]:
    """Yield pairs of ``count`` sentences of each language's documents, chosen and edited by ``chance``."""
    for language in LANGUAGES:
        documents = [line for product in products for line in lines(folder / "documents", product, language)]
        questions = _questions(folder, products, language)
        found = [
            (document, span)
            for document in documents
            for span in sentences(document["text"])
            if _SHORTEST <= len(document["text"][span[0] : span[1]].split()) <= _LONGEST
        ]
        for document, (start, end) in chance.sample(found, min(count, len(found))):
            asked = chance.choice(questions.get(document["document_id"], [document["title"]]))
            sentence = document["text"][start:end]
            for claim, passage, label, marks in _of_sentence(document, sentence, start, language, chance):
                yield Pair(asked, claim, passage, label, marks, language, "edit")


def _of_passage(line: Line) -> Iterator[Pair]:
    def pair(claim: str, label: int, marks: tuple[tuple[int, int], ...] = ()) -> Pair:
        return Pair(line["question"], claim, line["passage"], label, marks, line["language"], "written")

    yield from (pair(claim, SUPPORTED) for claim in line["supported"])
    for each in line["contradicted"]:
        start = each["claim"].index(each["words"])
        yield pair(each["claim"], CONTRADICTED, ((start, start + len(each["words"])),))
    yield from (pair(claim, ABSENT) for claim in line["absent"])


def _of_answer(
    line: Line, found: Context, language: str, chance: random.Random
) -> Iterator[tuple[Pair, Window]]:
    asked = stems(line["question"], language)
    refusals = lexicon(language).refusal.phrases
    # Without a passage that decides, a true answer says that the documents do not tell.
    if not line["evidence"] and not line["mistakes"]:
        return
    for claim in claims(line["answer"], language):
        marks = _marks(line, claim)
        if refusals.occurs(tuple(folded_words(claim.text))) or _REFUSED in marks.values():
            continue
        best = found.best(claim.stems, asked, _RANKED)
        deciding = _deciding(line, claim, found)
        places = tuple(sorted(marks))
        for window, label in _labelled(claim, frozenset(marks.values()), best, deciding, found, chance):
            pair = Pair(line["question"], claim.text, window.text, label, places, language, "answer")
            yield pair, window
            if label == CONTRADICTED:
                turned = replace(pair, claim=window.text, passage=claim.text, marks=())
                yield replace(turned, source="answer turned"), window


def _labelled(
    claim: Span,
    kinds: frozenset[str],
    best: Sequence[Window],
    deciding: Sequence[Window],
    found: Context,
    chance: random.Random,
) -> Iterator[tuple[Window, int]]:
    """Yield the windows that a claim is learnt with, each once, and what they say of it."""
    if kinds - _NOT_THERE:
        yield from ((window, CONTRADICTED) for window in deciding)
        others = [window for window in best if not any(overlap(window, one) for one in deciding)]
        yield from ((window, ABSENT) for window in others[:1])
    elif kinds:
        yield from ((window, ABSENT) for window in best[:2])
    else:
        true = [window for window in best[:1] if found.share(claim.stems, window.stems) >= _ENOUGH]
        true += [
            window
            for window in deciding
            if window not in true and found.share(claim.stems, window.stems) >= _ENOUGH
        ]
        yield from ((window, SUPPORTED) for window in true)
        enough = max((found.share(claim.stems, window.stems) for window in true), default=0.0)
        others = [
            window
            for window in best
            if not any(overlap(window, one) for one in (*true, *deciding))
            and found.share(claim.stems, window.stems) < _OTHER * enough
        ]
        if others:
            yield (others[0] if chance.random() < 0.7 else chance.choice(others)), ABSENT  # noqa: PLR2004


def _marks(line: Line, claim: Span) -> dict[tuple[int, int], str]:
    """Return the untrue words of a claim by their place in it, and the kind of each."""
    found = {}
    for mistake in line["mistakes"]:
        start = line["answer"].find(mistake["words"])
        left = max(start, claim.start) - claim.start
        right = min(start + len(mistake["words"]), claim.end) - claim.start
        if start >= 0 and left < right:
            found[left, right] = mistake["kind"]
    return found


def _deciding(line: Line, claim: Span, found: Context) -> list[Window]:
    """Return the window with the passage that decides the claim, if any: the one with most of its words."""
    held = [
        window
        for evidence in line["evidence"]
        for window in found.windows
        if window.document_id == evidence["document_id"] and _holds(window.text, evidence["passage"])
    ]
    ranked = sorted(held, key=lambda window: found.share(claim.stems, window.stems), reverse=True)
    several = len(line["evidence"]) > 1
    return [window for window in ranked[:1] if not several or claim.stems & window.stems]


def _holds(window: str, passage: str) -> bool:
    return passage in window or (len(window) < len(passage) and window in passage)


def _questions(folder: Path, products: Sequence[str], language: str) -> dict[str, list[str]]:
    found = defaultdict(list)
    for product in products:
        # Of some products there are documents alone.
        rated = folder / "answers" / f"{product}.{language}.jsonl.gz"
        for line in lines(folder / "answers", product, language) if rated.exists() else ():
            for name in line["document_ids"]:
                found[name].append(line["question"])
    return found


Made = tuple[str, str, int, tuple[tuple[int, int], ...]]


def _of_sentence(
    document: Line, sentence: str, start: int, language: str, chance: random.Random
) -> Iterator[Made]:
    """Yield a sentence as it is and edited, with the passage that holds it, both ways, and with another."""
    found = context([document], language)
    own = [window for window in found.windows if window.start <= start < window.end]
    holding = [window for window in own if sentence in window.text]
    if not holding:
        return
    passage = chance.choice(holding).text
    changed = edited(sentence, language, components_of(document["text"]), chance)
    yield _part_of(sentence, chance), passage, SUPPORTED, ()
    others = found.best(stems(sentence, language), frozenset(), 3)
    yield from (
        (sentence, window.text, ABSENT, ())
        for window in others[:2]
        if sentence not in window.text and not any(overlap(window, one) for one in own)
    )
    if changed:
        yield from _both_ways(sentence, changed, passage)


def _both_ways(sentence: str, changed: Edited, passage: str) -> Iterator[Made]:
    marks = ((changed.start, changed.end),)
    untrue = passage.replace(sentence, changed.text)
    yield changed.text, passage, CONTRADICTED, marks
    yield sentence, untrue, CONTRADICTED, ()
    # Else an edited sentence could be known by itself, without its passage.
    yield changed.text, untrue, SUPPORTED, ()


def _part_of(sentence: str, chance: random.Random) -> str:
    """Return a sentence, or what stands before or after a comma of it, where that is long enough."""
    parts = [part.strip() for part in sentence.split(", ")]
    long = [part for part in parts if len(part.split()) >= _SHORTEST]
    return chance.choice(long) if len(parts) > 1 and long and chance.random() < 0.5 else sentence  # noqa: PLR2004


def described(pairs: Iterable[Pair]) -> dict[tuple[str, int], int]:
    """Return how many pairs there are of each source and label."""
    counts: dict[tuple[str, int], int] = defaultdict(int)
    for pair in pairs:
        counts[pair.source, pair.label] += 1
    return dict(sorted(counts.items()))


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
