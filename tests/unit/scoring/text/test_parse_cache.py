"""A document is not parsed again after a restart, unless its parse would differ."""

import gc
import shutil
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from scoring import Exchange, Passage, Scorer, ScorerOptions
from scoring.cache.cache_file import PARSE_CACHE_ID, CacheFile
from scoring.text.parsing import LazyParse, ParseCache, Parser, default_parser, parse_cache
from scoring.text.parsing.parse_cache import pack_parse
from scoring.values.exchange import Segment, TranslatedText, Translation
from scoring.values.scored_answer import CacheUse
from streams.cli.demo.sample import sample_answers, sample_documents
from tests.support.clock import Clock
from tests.unit.scoring.scoring_support import LEXICONS

QUESTION = "How do I enter leave for an employee?"
ANSWER = "The employee enters leave on the **Leave** tab."
PASSAGES = tuple(
    Passage(f"d-{n}", f"The employee number {n} enters it on the **Leave** tab.", version="v1")
    for n in range(3)
)
EXCHANGE = Exchange(QUESTION, ANSWER, PASSAGES)
HOUR = 3_600.0


class CountingParser(Parser):
    """A parser that notes what it was asked to parse."""

    parsed = ()

    def parse_all(self, texts, lexicon):
        type(self).parsed += tuple(texts)
        return super().parse_all(texts, lexicon)


@pytest.fixture
def parsed(monkeypatch):
    """Return a function that returns, and forgets, the texts parsed so far."""
    monkeypatch.setattr("scoring.scorer.scorer.Parser", CountingParser)
    monkeypatch.setattr(CountingParser, "parsed", ())

    def take():
        texts, CountingParser.parsed = CountingParser.parsed, ()
        return list(texts)

    return take


@pytest.fixture
def file(tmp_path):
    return tmp_path / "prepared.sqlite3"


@contextmanager
def scoring(file, **options):
    with closing(Scorer(options=ScorerOptions(parse_cache=file, **options))) as scorer:
        yield scorer


def test_a_second_scorer_parses_no_document(file, parsed):
    with scoring(file) as first:
        expected = first.score(EXCHANGE)
        assert set(parsed()) == {QUESTION, ANSWER, *(passage.text for passage in PASSAGES)}
    with scoring(file) as second:
        judgement = second.score(EXCHANGE)
        assert set(parsed()) == {QUESTION, ANSWER}
    assert judgement == expected
    assert (expected.cache_use, judgement.cache_use) == (CacheUse(misses=3), CacheUse(disk_hits=3))


def test_only_what_neither_memory_nor_file_has_is_parsed(file, parsed):
    with scoring(file) as scorer:
        scorer.score(replace(EXCHANGE, context=PASSAGES[:1]))
    with scoring(file) as scorer:
        scorer.score(replace(EXCHANGE, context=PASSAGES[:2]))
        parsed()
        judgement = scorer.score(EXCHANGE)
        assert set(parsed()) == {QUESTION, ANSWER, PASSAGES[2].text}
        assert judgement.cache_use == CacheUse(hits=2, misses=1)
        assert scorer.cache_use == CacheUse(hits=2, misses=2, disk_hits=1)


def test_a_scorer_without_memory_cache_finds_the_parse_in_the_file(file, parsed):
    with scoring(file, cached_characters=0) as scorer:
        for documents in (CacheUse(misses=3), CacheUse(disk_hits=3)):
            assert scorer.score(EXCHANGE).cache_use == documents
        assert parsed().count(PASSAGES[0].text) == 1


def test_questions_answers_and_inline_passages_are_never_in_the_file(file, monkeypatch):
    # Nothing is compressed, so that the file's words can be read.
    monkeypatch.setattr("scoring.text.parsing.parse_cache.zlib.compress", lambda content: content)
    passages = Passage("own", "Enter the nougat.", version="v1"), Passage("inline", "Enter the liquorice.")
    with scoring(file) as scorer:
        scorer.score(Exchange("How do I enter the sesame?", "Enter the marzipan.", passages))
    content = b"".join(each.read_bytes() for each in file.parent.iterdir())
    words = b"nougat", b"sesame", b"marzipan", b"liquorice"
    assert [word in content for word in words] == [True, False, False, False]


def test_an_inline_passage_is_not_looked_up_in_the_file(file, parsed):
    inline = tuple(replace(passage, version=None) for passage in PASSAGES)
    for _ in range(2):
        with scoring(file) as scorer:
            assert scorer.score(replace(EXCHANGE, context=inline)).cache_use == CacheUse(misses=3)
    assert parsed().count(PASSAGES[0].text) == 2


def test_a_document_that_came_inline_first_is_kept_when_it_comes_from_the_store(file, parsed):
    with scoring(file) as scorer:
        for version, documents in ((None, CacheUse(misses=1)), ("v1", CacheUse(hits=1))):
            context = (replace(PASSAGES[0], version=version),)
            assert scorer.score(replace(EXCHANGE, context=context)).cache_use == documents
    with scoring(file) as scorer:
        assert scorer.score(replace(EXCHANGE, context=PASSAGES[:1])).cache_use == CacheUse(disk_hits=1)
    assert parsed().count(PASSAGES[0].text) == 1


def test_the_translation_of_a_document_is_kept_too(file, parsed):
    question, answer, text = (
        "Hoe voer ik verlof in?",
        "Voer het in op **Verlof**.",
        "Voer verlof in op **Verlof**.",
    )

    def english(original, translation):
        return TranslatedText(translation, (Segment(0, len(original), 0, len(translation)),))

    translation = Translation(
        english(question, "How do I enter leave?"),
        english(answer, "Enter it on **Leave**."),
        (english(text, "Enter leave on **Leave**."),),
    )
    exchange = Exchange(question, answer, (Passage("d", text, version="v1"),), "nl", translation)
    for times in (1, 0):
        with scoring(file) as scorer:
            assert scorer.score(exchange).translated
        assert parsed().count("Enter leave on **Leave**.") == times


@pytest.mark.parametrize("language", ["nl", "en"])
def test_the_sample_is_scored_alike_without_with_an_empty_and_with_a_full_file(file, language):
    texts = {document.document_id: document for document in sample_documents(language)}
    exchanges = [
        Exchange(
            answer.question,
            answer.answer,
            tuple(Passage(i, texts[i].text, texts[i].title, version="v1") for i in answer.document_ids),
            language,
        )
        for answer in sample_answers(language)[::4]
    ]
    judged, uses = [], []
    for prepared in (None, file, file):
        with scoring(prepared) as scorer:
            judged.append([repr(scorer.score(exchange)) for exchange in exchanges])
            uses.append(scorer.cache_use)
    without, empty, full = ([line.partition("cache_use=CacheUse")[0] for line in lines] for lines in judged)
    assert without == empty == full
    assert (uses[0], uses[1].misses, uses[2].misses) == (uses[1], uses[2].disk_hits, 0)


@pytest.mark.parametrize(
    ("obstruct", "failure"),
    [(lambda file: file.write_text("My notes.\n"), "FOREIGN"), (lambda file: file.mkdir(), "EISDIR")],
)
def test_an_unusable_file_is_reported_once_and_changes_no_score(file, obstruct, failure):
    obstruct(file)
    with scoring(file) as scorer:
        first, second = scorer.score(EXCHANGE), scorer.score(EXCHANGE)
    assert first == second == Scorer().score(EXCHANGE)
    assert first.cache_use == CacheUse(misses=3, failures=(failure,))
    assert second.cache_use == CacheUse(hits=3)


@contextmanager
def parses(file, parser=None, clock=None):
    clock = clock or Clock(1_000_000.0)
    with closing(CacheFile(file, PARSE_CACHE_ID, 1, clock)) as opened:
        yield ParseCache(opened, parser or default_parser(), clock)


def lazy(text="Send the invoice.", language="en"):
    return LazyParse(text, LEXICONS[language], default_parser())


def is_kept(file, text="Send the invoice.", language="en", **others):
    with parses(file, **others) as kept:
        return kept.restore(lazy(text, language))


def keep(file, *texts, **others):
    with parses(file, **others) as kept:
        for text in texts:
            kept.restore(text)
            text.get()


def test_a_parse_is_kept_by_text_and_language(file):
    keep(file, lazy())
    assert is_kept(file)
    assert not is_kept(file, "Send the invoices.")
    assert not is_kept(file, language="nl")


def test_a_parse_by_another_pipeline_is_another_one(file, tmp_path):
    folder = tmp_path / "trained_again"
    shutil.copytree(default_parser().load("en").path, folder)
    keep(file, lazy())
    assert is_kept(file, parser=Parser({"en": str(folder)}))
    with (folder / "tagger" / "model").open("ab") as model:
        model.write(b"\0")
    parse_cache._folder_hash.cache_clear()
    try:
        assert not is_kept(file, parser=Parser({"en": str(folder)}))
    finally:
        parse_cache._folder_hash.cache_clear()


@pytest.mark.parametrize(
    ("what", "other"),
    [("SCORER_VERSION", "9.9.9"), ("version", lambda _: "9.9.9"), ("_code_hash", lambda: b"another")],
)
def test_a_parse_by_another_version_is_another_one(file, monkeypatch, what, other):
    keep(file, lazy())
    monkeypatch.setattr(parse_cache, what, other)
    assert not is_kept(file)


def test_a_pipeline_whose_files_are_gone_is_used_and_its_parses_are_not_kept(file, monkeypatch):
    def unreadable(_):
        raise FileNotFoundError

    monkeypatch.setattr("scoring.text.parsing.parse_cache.pipeline_fingerprint", unreadable)
    with scoring(file) as scorer:
        assert scorer.score(EXCHANGE).cache_use == CacheUse(
            misses=3, failures=("PIPELINE_UNREADABLE", "PIPELINE_UNREADABLE")
        )


def test_bytes_in_the_file_that_are_no_parse_are_parsed_anew_and_replaced(file, monkeypatch):
    monkeypatch.setattr("scoring.text.parsing.parse_cache.pack_parse", lambda parse: pack_parse(parse)[:-1])
    keep(file, lazy())
    monkeypatch.undo()
    with closing(CacheFile(file, PARSE_CACHE_ID, 1)) as opened:
        kept, text = ParseCache(opened, default_parser()), lazy()
        assert not kept.restore(text)
        assert opened.take_failures() == ("NOT_A_PARSE",)
        assert text.get().text == ("send", "the", "invoice", ".")
        assert kept.restore(lazy())


def test_that_a_parse_is_in_use_is_noted_once_an_hour(file):
    clock, text = Clock(1_000_000.0), lazy()
    with parses(file, clock=clock) as kept:
        kept.restore(text)
        text.get()
        noted = [text.last_touched]
        for minutes in (30, 31, 30):
            clock.now += minutes * 60
            kept.restore(text)
            noted.append(text.last_touched)
    start = 1_000_000.0
    assert noted == [start, start, start + 61 * 60, start + 61 * 60]


def test_what_is_in_memory_comes_back_into_a_file_that_was_begun_anew(file):
    clock, text = Clock(1_000_000.0), lazy()
    with parses(file, clock=clock) as kept:
        kept.restore(text)
        text.get()
        file.unlink()
        clock.now += 2 * HOUR
        kept.restore(text)
    assert is_kept(file)


# From Python 3.13 on its database is complained about, and rightly.
@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")
def test_a_scorer_that_nobody_closed_can_be_forgotten(file):
    Scorer(options=ScorerOptions(parse_cache=file)).score(EXCHANGE)
    gc.collect()
    with scoring(file) as scorer:
        assert scorer.score(EXCHANGE).cache_use == CacheUse(disk_hits=3)
