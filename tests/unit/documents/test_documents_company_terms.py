"""The file of company terms keeps in step with the documents store, and a failure stops nobody."""

import asyncio
import math
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from schemas import KnowledgeDocument
from scoring.company_terms import CompanyTerms, CompanyTermsError, LanguageTerms, load_terms, save_terms
from streams.documents.company_terms import (
    TERMS_FILE_NAME,
    BuiltTermsFile,
    TermsFile,
    TermsUpdater,
    offline_terms,
    terms_path,
    terms_source,
)
from streams.documents.store import DocumentStore, StoreFailed
from streams.documents.versions import DocumentChange
from streams.kafka.topic_identity import TopicIdentity
from streams.settings import CompanyTermsSettings, InvalidSettings, Settings
from tests.support.clock import Clock
from tests.support.records import eventually

ORIGIN = TopicIdentity("cluster", "documents", "topic-id")
WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
TERMS = CompanyTerms({"nl": LanguageTerms(2, {"loonstrook": 2})})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DocumentStore]:
    store = DocumentStore(tmp_path / "documents")
    store.reset(ORIGIN)
    yield store
    store.close()


def document(document_id: str, text: str, language: str = "nl") -> KnowledgeDocument:
    return KnowledgeDocument(document_id, language, "titel", text, WHEN)


def put(store: DocumentStore, offset: int, document_id: str, text: str | None, language: str = "nl") -> None:
    new = None if text is None else document(document_id, text, language)
    store.apply([DocumentChange(document_id, new, 0, offset, offset)], {0: offset + 1})


def built(store: DocumentStore, tmp_path: Path) -> BuiltTermsFile:
    return BuiltTermsFile(store, tmp_path / TERMS_FILE_NAME, min_documents=2)


def terms_in(tmp_path: Path, language: str = "nl") -> frozenset[str]:
    return load_terms(tmp_path / TERMS_FILE_NAME).for_language(language) or frozenset()


def test_documents_their_updates_and_tombstones_change_the_file(store, tmp_path):
    source = built(store, tmp_path)
    put(store, 0, "a", "de loonstrook van Kantora")
    put(store, 1, "b", "een loonstrook in Kantora")
    source.refresh()
    assert terms_in(tmp_path) == {"loonstrook", "kantora", "titel"}
    put(store, 2, "b", "een verzuimmelding in Kantora")
    source.refresh()
    assert terms_in(tmp_path) == {"kantora", "titel"}
    put(store, 3, "c", "de verzuimmelding")
    source.refresh()
    assert terms_in(tmp_path) == {"kantora", "titel", "verzuimmelding"}
    put(store, 4, "b", None)
    source.refresh()
    assert terms_in(tmp_path) == {"titel"}


def test_a_store_rebuilt_leaves_no_terms_of_the_old_one(store, tmp_path):
    source = built(store, tmp_path)
    put(store, 0, "a", "loonstrook")
    put(store, 1, "b", "loonstrook")
    source.refresh()
    store.reset(TopicIdentity("cluster", "documents", "another"))
    assert source.needs_refresh()
    source.refresh()
    assert load_terms(tmp_path / TERMS_FILE_NAME) == CompanyTerms()


def test_building_on_from_changes_gives_what_building_anew_gives(store, tmp_path):
    source = built(store, tmp_path)
    for offset, (document_id, text) in enumerate(
        [("a", "loonstrook"), ("b", "loonstrook verlof"), ("a", "verlof"), ("c", "verlof"), ("b", None)]
    ):
        put(store, offset, document_id, text)
        terms = source.refresh()
    assert terms == built(store, tmp_path / "documents").refresh()


def test_the_file_is_left_alone_while_the_terms_are_the_same(store, tmp_path):
    source = built(store, tmp_path)
    put(store, 0, "a", "loonstrook")
    source.refresh()
    before = (tmp_path / TERMS_FILE_NAME).stat()
    assert not source.needs_refresh()
    put(store, 1, "x", "payslip", "en")
    assert source.needs_refresh()
    source.refresh()
    assert (tmp_path / TERMS_FILE_NAME).stat() == before
    (tmp_path / TERMS_FILE_NAME).unlink()
    assert source.needs_refresh()
    source.refresh()
    assert load_terms(tmp_path / TERMS_FILE_NAME) == CompanyTerms()


def test_languages_are_known_by_their_code_and_others_left_out(store, tmp_path):
    for offset, language in enumerate(("en-GB", "EN", "xx", "not a language")):
        put(store, offset, f"d{offset}", "payslip", language)
    terms = built(store, tmp_path).refresh()
    assert {code: found.documents for code, found in terms.languages.items()} == {"en": 2}


def test_a_snapshot_keeps_its_state_while_documents_change(store):
    put(store, 0, "a", "old")
    with store.snapshot() as documents:
        assert documents.versions().keys() == {"a"}
        put(store, 1, "a", "new")
        put(store, 2, "b", "b")
        found, newest = documents.get("a"), store.get("a")
        assert found is not None
        assert newest is not None
        assert (found.document.text, newest.document.text) == ("old", "new")
        assert documents.get("b") is None


def test_a_store_that_cannot_be_read_is_reported_as_failed(store, tmp_path):
    source = built(store, tmp_path)
    (tmp_path / "documents" / "documents.sqlite3").write_bytes(b"x" * 10_000)
    with pytest.raises(StoreFailed):
        source.refresh()


def test_a_cancelled_refresh_fails_and_leaves_the_file(store, tmp_path):
    source = built(store, tmp_path)
    put(store, 0, "a", "loonstrook")
    source.cancel()
    with pytest.raises(CompanyTermsError, match=r"^cancelled$"):
        source.refresh()
    assert not (tmp_path / TERMS_FILE_NAME).exists()


class Source:
    """Gives its terms, or raises its error."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.changed = True
        self.exists = False
        self.refreshed = 0

    def needs_refresh(self) -> bool:
        return self.changed

    def refresh(self) -> CompanyTerms:
        self.refreshed += 1
        if self.error:
            raise self.error
        return TERMS

    def cancel(self) -> None:
        self.error = CompanyTermsError("cancelled")


class Watcher:
    def __init__(self, source: Source, interval: float = 0.01, after: asyncio.Event | None = None) -> None:
        self.terms: list[CompanyTerms] = []
        self.failures = 0
        self.clock = Clock()
        if after is None:
            after = asyncio.Event()
            after.set()
        self.updater = TermsUpdater(
            source, interval, after, on_terms=self.terms.append, on_failure=self._fail, clock=self.clock
        )

    def _fail(self) -> None:
        self.failures += 1


async def test_nothing_is_built_before_the_documents_are_there():
    source, after = Source(), asyncio.Event()
    watcher = Watcher(source, after=after)
    async with watcher.updater:
        await asyncio.sleep(0)
        assert source.refreshed == 0
        assert math.isnan(watcher.updater.age)
        after.set()
        await asyncio.wait_for(watcher.updater.ready.wait(), 10)
    assert watcher.terms[0] == TERMS


async def test_an_updater_that_never_began_ends_at_once():
    async with Watcher(Source(), after=asyncio.Event()).updater as updater:
        pass
    assert not updater.ready.is_set()


async def test_the_terms_of_an_earlier_life_serve_until_the_first_refresh():
    source, refreshing = Source(), threading.Event()
    source.exists = True
    source.refresh = lambda: TERMS if refreshing.wait(30) else None
    watcher = Watcher(source)
    async with watcher.updater as updater:
        await asyncio.wait_for(updater.ready.wait(), 10)
        assert watcher.terms == []
        refreshing.set()
        await eventually(lambda: TERMS in watcher.terms, "they are refreshed")


async def test_terms_are_refreshed_only_when_due_and_their_age_is_known():
    source = Source()
    watcher = Watcher(source)
    source.changed = False
    async with watcher.updater as updater:
        await asyncio.wait_for(updater.ready.wait(), 10)
        watcher.clock.now += 100
        await eventually(lambda: updater.age == 0, "what is not due agrees")
        assert source.refreshed == 1
        source.changed = True
        await eventually(lambda: source.refreshed > 2, "what is due is refreshed")


async def test_a_failure_is_logged_once_counted_each_time_and_overcome():
    source = Source()
    source.error = OSError(28, "No space left on device", "a customer's text")
    watcher = Watcher(source)
    with capture_logs() as lines:
        async with watcher.updater as updater:
            await asyncio.wait_for(updater.ready.wait(), 10)
            source.changed = False
            await eventually(lambda: watcher.failures >= 3, "it is tried again though nothing changed")
            source.error = CompanyTermsError("terms.json: is not a table")
            failures = watcher.failures
            await eventually(lambda: watcher.failures > failures, "another failure")
            source.error = None
            await eventually(lambda: watcher.terms == [TERMS], "it works again")
    message = [(line["event"], line.get("reason", "").partition(" at ")[0]) for line in lines]
    assert message == [
        ("company_terms_failed", "ENOSPC (No space left on device)"),
        ("company_terms_failed", "terms.json: is not a table"),
        ("company_terms_work_again", ""),
    ]


def with_file(path: Path) -> Settings:
    return Settings(company_terms=CompanyTermsSettings(file=path))


def test_a_file_that_is_set_takes_the_place_of_building(store, tmp_path):
    path = tmp_path / "fixed.json"
    save_terms(TERMS, path)
    source = terms_source(with_file(path), store)
    assert isinstance(source, TermsFile)
    assert source.refresh() == TERMS
    assert terms_path(with_file(path)) == path
    with offline_terms(with_file(path), [document("a", "Kantora")] * 30) as settings:
        assert settings == with_file(path)


def test_a_set_file_that_cannot_be_used_is_a_wrong_setting(store, tmp_path):
    with pytest.raises(
        InvalidSettings, match=r"company_terms\.file: .*missing\.json: cannot be read: No such"
    ):
        terms_source(with_file(tmp_path / "missing.json"), store)


def test_scoring_without_a_worker_has_terms_of_the_given_documents():
    dutch = [document(f"d{n}", f"de loonstrook {n}") for n in range(20)]
    english = [document(f"d{n}", f"the payslip {n}", "en") for n in range(20)]
    with offline_terms(Settings(), [*dutch, *english]) as settings:
        path = terms_path(settings)
        assert load_terms(path).for_language("nl") == {"loonstrook", "titel"}
        assert load_terms(path).for_language("en") == {"payslip", "titel"}
    assert not path.exists()
    with offline_terms(Settings(), dutch[1:]) as settings:
        assert load_terms(terms_path(settings)) == CompanyTerms()


def test_no_terms_are_built_where_no_profile_looks_for_them():
    dutch = [document(f"d{n}", f"de loonstrook {n}") for n in range(20)]
    with offline_terms(Settings(), dutch, ["truthgate"]) as settings:
        assert settings == Settings()
    with offline_terms(Settings(), dutch, ["truthgate", "paper"]) as settings:
        assert load_terms(terms_path(settings)).for_language("nl") == {"loonstrook", "titel"}
