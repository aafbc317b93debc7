"""The index finds what was put into it, however that came to be there, in memory as in its files."""

import math
import os
import random
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from schemas import KnowledgeDocument
from streams.documents.versions import VersionedDocument
from streams.search.embedders import Vectors, to_unit_length
from streams.search.index import IndexedDocument, IndexUnusable, PassageIndex, remove_index
from streams.search.index_snapshot import IndexSnapshot, PassageMatch
from streams.search.index_updates import split_and_embed
from streams.search.search import Search
from streams.search.types import IndexFailed
from streams.settings import Settings
from tests.support.local_retrieval import NOW

DIMENSIONS = 512
WORDS = ["factuur", "klant", "order", "portaal", "verlof", "rooster", "bank", "saldo", "contract", "uren"]


def vectors_of(count: int, seed: int) -> Vectors:
    chance = np.random.default_rng(seed)
    return to_unit_length(chance.standard_normal((count, DIMENSIONS), dtype=np.float32))


def document(key: str, text: str, language: str = "nl") -> KnowledgeDocument:
    return KnowledgeDocument(key, language, "", text, NOW)


def embedded(
    documents: Sequence[KnowledgeDocument], vectors: Vectors | None = None, version: str = "1"
) -> list[IndexedDocument]:
    known = vectors_of(len(documents), 1) if vectors is None else vectors
    return split_and_embed(
        {one.document_id: VersionedDocument(one, version) for one in documents}, lambda _: known
    )


def texts(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randrange(1, 30))) for _ in range(count)]


def numbered(some: Sequence[str]) -> list[KnowledgeDocument]:
    return [document(str(number), text) for number, text in enumerate(some)]


@pytest.fixture
def index(tmp_path: Path) -> PassageIndex:
    return PassageIndex.create(tmp_path / "passages", "test")


def keys(snapshot: IndexSnapshot, matches: Sequence[PassageMatch]) -> list[str]:
    return [snapshot.location(match.key).key for match in matches]


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


def test_words_are_ranked_as_bm25_says(index):
    some, question = texts(40, 1), ["verlof", "saldo", "contract"]
    index.update(embedded(numbered(some)), ())
    found = index.snapshot.search_keywords("nl", " ".join(question), 40)
    assert {match.key[1]: match.score for match in found} == pytest.approx(
        {number: score for number, score in enumerate(bm25(question, some)) if score}, rel=1e-5
    )
    assert [match.score for match in found] == sorted((match.score for match in found), reverse=True)


def test_a_question_of_words_that_any_text_has_finds_nothing_by_them(index):
    index.update(embedded(numbered(["hoe en wat", "factuur"])), ())
    assert index.snapshot.search_keywords("nl", "hoe en wat?", 5) == []
    assert keys(index.snapshot, index.snapshot.search_keywords("nl", "Facturen!", 5)) == ["1"]


def test_a_word_of_one_language_is_not_found_in_another(index):
    index.update(embedded([document("a", "portaal"), document("b", "portaal", "en")]), ())
    for language, key in (("nl", "a"), ("en", "b")):
        found = index.snapshot.search_keywords(language, "portaal", 5)
        assert [match.key[0] for match in found] == [language]
        assert keys(index.snapshot, found) == [key]


def test_a_name_is_rare_that_few_passages_of_a_language_have(index):
    some = ["Twinfield", *["KMail"] * 4, "portaal"]
    index.update(embedded(numbered(some)), ())
    assert index.snapshot.is_rare("nl", "Twinfield")
    assert not index.snapshot.is_rare("nl", "KMail")
    assert not index.snapshot.is_rare("nl", "AccountView")


def test_the_nearest_vectors_are_found_and_their_cosines_are_right(index):
    vectors, questions, right = vectors_of(400, 2), vectors_of(20, 3), 0
    index.update(embedded(numbered(["factuur"] * 400), vectors), ())
    for question in questions:
        cosines = vectors @ question
        found = index.snapshot.search_vectors("nl", question, 10)
        right += len(set(np.argsort(-cosines)[:10].tolist()) & {match.key[1] for match in found})
        for match in found:
            assert match.score == pytest.approx(cosines[match.key[1]], abs=2e-3)
    assert right >= 0.98 * 10 * len(questions)


def test_an_index_that_followed_many_changes_finds_what_one_that_is_opened_anew_finds(index, tmp_path):
    chance, question = random.Random(5), vectors_of(1, 6)[0]
    for step in range(20):
        names = sorted({str(chance.randrange(60)) for _ in range(6)})
        some = [
            document(name, text, chance.choice(["nl", "en"]))
            for name, text in zip(names, texts(6, step), strict=False)
        ]
        index.update(embedded(some, vectors_of(len(some), step), str(step)), [str(chance.randrange(60))])
        anew = PassageIndex(tmp_path / "passages", "test")
        assert anew.contents == index.contents
        now, then = index.snapshot, anew.snapshot
        assert now.languages.keys() == then.languages.keys()
        for language in now.languages:
            for limit in (1, 10, 200):
                assert now.search_vectors(language, question, limit) == then.search_vectors(
                    language, question, limit
                )
            assert keys(now, now.search_keywords(language, "verlof contract", 200)) == keys(
                then, then.search_keywords(language, "verlof contract", 200)
            )


def test_a_snapshot_stays_as_it_was(index):
    index.update(embedded([document("a", "portaal")]), ())
    before = index.snapshot
    index.update(embedded([document("b", "portaal")]), ["a"])
    assert keys(before, before.search_keywords("nl", "portaal", 5)) == ["a"]
    assert keys(index.snapshot, index.snapshot.search_keywords("nl", "portaal", 5)) == ["b"]
    index.update([], ["b"])
    assert (index.contents, index.snapshot.languages) == ({}, {})


def test_vectors_of_another_length_are_no_part_of_an_index(index):
    index.update(embedded([document("a", "portaal")]), ())
    with pytest.raises(IndexFailed, match="index_built_otherwise"):
        index.snapshot.search_vectors("nl", np.ones(7, np.float32), 5)


def test_a_folder_that_holds_other_files_loses_none_of_them(tmp_path):
    path = tmp_path / "passages"
    (tmp_path / "thesis.txt").write_text("years of work")
    path.mkdir()
    (path / "psalm.txt").write_text("a psalm")
    with pytest.raises(IndexUnusable, match="no_index"):
        PassageIndex(path, "this")
    PassageIndex.create(path, "this")
    PassageIndex.create(path, "this")
    remove_index(path)
    assert {each.name for each in tmp_path.iterdir()} == {"thesis.txt", "passages.set-aside"}
    assert (tmp_path / "passages.set-aside" / "psalm.txt").read_text() == "a psalm"


def test_an_index_that_was_built_otherwise_or_not_to_its_end_is_unusable(tmp_path):
    path = tmp_path / "passages"
    (tmp_path / "passages.new").mkdir()
    (tmp_path / "passages.new" / "meta.json").write_bytes(b"{and no more")
    with pytest.raises(IndexUnusable, match="no_index"):
        PassageIndex(path, "this")
    assert PassageIndex.create(path, "this").contents == {}
    assert PassageIndex(path, "this").contents == {}
    with pytest.raises(IndexUnusable, match="index_built_otherwise"):
        PassageIndex(path, "that")


def test_a_change_that_the_disk_is_too_full_for_changes_nothing_and_says_why(index, tmp_path):
    index.update(embedded([document("a", "portaal")]), ())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(IndexFailed) as failed:
            index.update(embedded([document("b", "portaal")]), ["a"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert str(failed.value) == "EFBIG (File too large)"
    again = PassageIndex(tmp_path / "passages", "test")
    assert again.contents == {"a": "1"}
    again.update(embedded([document("b", "portaal")]), ["a"])
    assert again.contents == {"b": "1"}


_KILLED = """
import sys
from pathlib import Path
from streams.search.index import PassageIndex
from tests.unit.retrieval.test_retrieval_index import document, embedded
index = PassageIndex(Path(sys.argv[1]), "test")
for number in range(1_000):
    index.update(embedded([document(str(number), "portaal")]), [str(number - 1)])
    print(number, flush=True)
"""


def test_a_process_that_is_killed_while_it_writes_leaves_one_of_its_commits(tmp_path):
    PassageIndex.create(tmp_path / "passages", "test")
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(tmp_path / "passages")],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout
    with process:
        done = [process.stdout.readline() for _ in range(4)]
        process.send_signal(signal.SIGKILL)
    committed = int(done[-1])
    (key,) = PassageIndex(tmp_path / "passages", "test").contents
    assert int(key) >= committed


def test_postings_that_are_not_as_they_were_written_end_no_search_worse_than_by_failing(index, tmp_path):
    index.update(embedded(numbered(texts(400, 1)), vectors_of(400, 1)), ())
    for file in (tmp_path / "passages").glob("*.[it][de][xr]*"):
        with file.open("r+b") as opened:
            opened.write(b"\xff" * file.stat().st_size)
    with suppress(IndexFailed):
        index.snapshot.search_keywords("nl", "verlof saldo", 40)
    with pytest.raises(IndexUnusable, match="index_damaged"):
        PassageIndex(tmp_path / "passages", "test")


class _Embedder:
    floor, word_weight, vector_weight, dimensions = -1.0, 0.0, 1.0, DIMENSIONS

    def embed_query(self, _text: str) -> Vectors:
        return vectors_of(1, 1)[0]


def test_a_passage_is_found_with_the_text_of_its_version_and_not_where_that_is_not_stored(index):
    documents = [document("invoice", "factuur sturen"), document("order", "factuur")]
    index.update(embedded(documents), ())
    stored = {("invoice", "1"): documents[0]}
    search = Search(
        lambda: index.snapshot,
        lambda key, version: stored.get((key, version)),
        _Embedder(),
        Settings(),
    )
    hits = search("Waar is de factuur?", "nl").hits
    assert [(hit.document_id, hit.version, hit.text) for hit in hits] == [("invoice", "1", "factuur sturen")]
