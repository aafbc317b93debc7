"""The index in memory finds what is in its file, however that came to be there."""

from __future__ import annotations

import math
import random
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from scoring.lexicon import load_shipped
from streams.retrieval import index as index_module
from streams.retrieval.block import Block, Spot, by_vector, by_words, merged
from streams.retrieval.chunks import Chunk
from streams.retrieval.embedder import Vectors, normalised
from streams.retrieval.index import ChunkIndex
from streams.retrieval.index_file import IndexFile, Read
from streams.retrieval.indexed import IndexedDocument, packed
from streams.retrieval.search import Search
from streams.retrieval.words import terms_of
from streams.settings import RetrievalSettings

DIMENSIONS = 512
WORDS = ["factuur", "klant", "order", "portaal", "verlof", "rooster", "bank", "saldo", "contract", "uren"]


def vectors_of(count: int, seed: int) -> Vectors:
    chance = np.random.default_rng(seed)
    return normalised(chance.standard_normal((count, DIMENSIONS), dtype=np.float32))


def document(name: str, text: str, language: str = "nl", version: str = "1") -> IndexedDocument:
    return IndexedDocument(name, version, language, "", text)


def read(number: int, text: str, vector: Vectors) -> Read:
    return Read(number, "nl", packed(document(str(number), text), [Chunk(text, 0, len(text))], vector))


def texts(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randrange(1, 30))) for _ in range(count)]


def numbers(spots: Sequence[Spot]) -> list[int]:
    return [spot.key[0] for spot in spots]


def in_blocks(some: Sequence[str], vectors: Vectors, size: int) -> list[Block]:
    reads = [read(number, text, vectors[number : number + 1]) for number, text in enumerate(some)]
    return [Block.of(reads[first : first + size]) for first in range(0, len(reads), size)]


def bm25(question: Sequence[str], some: Sequence[str]) -> list[float]:
    split = [Counter(text.split()) for text in some]
    mean = sum(words.total() for words in split) / len(split)
    scores = []
    for words in split:
        score = 0.0
        for word in question:
            having = sum(word in other for other in split)
            weight = math.log(1 + (len(split) - having + 0.5) / (having + 0.5))
            length = 1.2 * (0.25 + 0.75 * words.total() / mean)
            score += weight * 2.2 * words[word] / (words[word] + length)
        scores.append(score)
    return scores


@pytest.mark.parametrize("size", [7, 40])
def test_words_are_ranked_as_bm25_says_in_however_many_blocks(size: int) -> None:
    some, question = texts(40, 1), ["verlof", "saldo", "contract"]
    expected = bm25(question, some)
    found = by_words(in_blocks(some, vectors_of(40, 1), size), terms_of(" ".join(question), "nl"), 40)
    assert {spot.key[0]: spot.score for spot in found} == pytest.approx(
        {number: score for number, score in enumerate(expected) if score}, rel=1e-5
    )
    assert [spot.score for spot in found] == sorted((spot.score for spot in found), reverse=True)


def test_a_question_of_words_that_any_text_has_finds_nothing_by_them() -> None:
    blocks = in_blocks(["hoe en wat", "factuur"], vectors_of(2, 1), 2)
    assert by_words(blocks, terms_of("hoe en wat?", "nl"), 5) == []
    assert numbers(by_words(blocks, terms_of("Facturen!", "nl"), 5)) == [1]


@pytest.mark.parametrize("size", [50, 400])
def test_the_nearest_vectors_are_found_and_their_cosines_are_right(size: int) -> None:
    vectors, questions = vectors_of(400, 2), vectors_of(20, 3)
    blocks, right = in_blocks(["factuur"] * 400, vectors, size), 0
    for question in questions:
        cosines = vectors @ question
        found = by_vector(blocks, question, 10)
        right += len(set(np.argsort(-cosines)[:10].tolist()) & set(numbers(found)))
        for spot in found:
            assert spot.score == pytest.approx(cosines[spot.key[0]], abs=2e-3)
    assert right >= 0.98 * 10 * len(questions)


def test_what_is_gone_is_found_no_more_before_and_after_blocks_are_merged() -> None:
    some, vectors = texts(30, 4), vectors_of(30, 4)
    left = np.arange(0, 30, 2)
    blocks = [block.only(left) for block in in_blocks(some, vectors, 10)]
    for now in (blocks, [merged(blocks)]):
        assert set(numbers(by_vector(now, vectors[1], 30))) == set(left.tolist())
        asked = terms_of(" ".join(WORDS), "nl")
        assert set(numbers(by_words(now, asked, 30))) == set(left.tolist())
    assert len(merged(blocks)) == len(left)


def test_an_index_that_followed_many_changes_finds_what_one_that_is_read_anew_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "LARGEST", 40)
    monkeypatch.setattr(index_module, "_GATHERED", 25)
    chance, file = random.Random(5), IndexFile(tmp_path / "passages.sqlite3", "test")
    file.create()
    following, question = ChunkIndex(file, DIMENSIONS), vectors_of(1, 6)[0]
    for step in range(40):
        names = [str(chance.randrange(120)) for _ in range(6)]
        some = [
            document(name, text, chance.choice(["nl", "en"]), str(step))
            for name, text in zip(sorted(set(names)), texts(6, step), strict=False)
        ]
        put = [
            (one, packed(one, [Chunk(one.text, 0, len(one.text))], vectors_of(1, step * 10 + number)))
            for number, one in enumerate(some)
        ]
        file.change(put, [*names, str(chance.randrange(120))])
        now, anew = following.refresh(), ChunkIndex(file, DIMENSIONS).refresh()
        assert set(now) == set(anew)
        for language, blocks in now.items():
            assert all(len(block) <= 40 for block in blocks)
            for limit in (1, 10, 200):
                expected = numbers(by_vector(anew[language], question, limit))
                assert numbers(by_vector(blocks, question, limit)) == expected
            asked = list(terms_of("verlof contract", "nl"))
            assert set(numbers(by_words(blocks, asked, 200))) == set(
                numbers(by_words(anew[language], asked, 200))
            )


def test_the_index_can_be_searched_while_it_is_written(tmp_path: Path) -> None:
    file = IndexFile(tmp_path / "passages.sqlite3", "test")
    file.create()
    one = document("invoice", "factuur")
    file.change([(one, packed(one, [Chunk("factuur", 0, 7)], vectors_of(1, 1)))], ())
    with closing(sqlite3.connect(file.path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM documents")
        index = ChunkIndex(file, DIMENSIONS)
        assert [len(block) for block in index.refresh()["nl"]] == [1]
        assert index.documents([1]) == {1: one}


class _Embedder:
    floor, word_weight, weight, dimensions = -1.0, 0.0, 1.0, DIMENSIONS

    def embed_query(self, _text: str) -> Vectors:
        return vectors_of(1, 1)[0]


def test_a_document_that_is_replaced_while_it_is_searched_for_is_found_as_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = IndexFile(tmp_path / "passages.sqlite3", "test")
    file.create()

    def put(version: str) -> None:
        one = document("invoice", "factuur", version=version)
        file.change([(one, packed(one, [Chunk("factuur", 0, 7)], vectors_of(1, 1)))], ["invoice"])

    put("1")
    index = ChunkIndex(file, DIMENSIONS)
    search = Search(index, _Embedder(), RetrievalSettings(), load_shipped())
    documents = index.documents

    def replaced_meanwhile(some):
        if "2" not in file.contents().values():
            put("2")
        return documents(some)

    monkeypatch.setattr(index, "documents", replaced_meanwhile)
    assert [hit.version for hit in search("Waar is de factuur?", "nl", 10).hits] == ["2"]
