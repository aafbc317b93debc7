"""An answer is judged on its translation, or as it is and degraded; a translator never stops it."""

import asyncio
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import cast

import pytest
import structlog
from prometheus_client import generate_latest

from schemas.records import ChatbotAnswer, KnowledgeDocument
from scoring.cache.call_guards import BreakerState
from scoring.lexicon import Lexicon, load_shipped
from scoring.text.language_detection import LanguageDetector
from scoring.translation.errors import TranslationFault, TranslationObserver
from scoring.translation.translator import ExchangeTranslator
from scoring.values.exchange import Exchange, Passage, Translation
from scoring.values.rules import Reason
from scoring.values.scored_answer import ScoredAnswer
from streams.observability.instruments import Instruments
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import Deadline, OfflinePipeline, Pipeline
from streams.scorers.options import AsyncScorer, unscored_answer
from streams.settings import DocumentSettings, InvalidSettings, Settings, TranslationSettings, load_settings
from streams.translating import translate_first
from streams.translating.opening import open_translation
from streams.translating.translation_stage import TranslationMetrics, TranslationResult
from streams.translating.translation_stage import TranslationStage as Translating
from tests.support.libretranslate import LibreTranslate
from tests.support.parallel_texts import ParallelTexts

QUESTION, ANSWER = (
    "Hoe kan ik een rooster wijzigen voor een medewerker?",
    "Klik op **Nieuw** en kies een rooster.",
)
EXCHANGE = Exchange(QUESTION, ANSWER, (Passage("d-1", ANSWER, "Rooster"),), "nl")
NOW = datetime(2026, 3, 2, tzinfo=UTC)
RECORD = ChatbotAnswer("a-1", "c-1", QUESTION, ANSWER, NOW, document_ids=("d-1",), language="nl")
LIBRARY = StaticDocuments({"d-1": KnowledgeDocument("d-1", "nl", "Rooster", ANSWER, NOW)})


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("TRUTHGATE_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="module")
def detector() -> LanguageDetector:
    return LanguageDetector(load_shipped().values())


@pytest.fixture(autouse=True)
def _loaded_once(monkeypatch: pytest.MonkeyPatch, detector: LanguageDetector) -> None:
    """Load the language model, which takes a second, once for all of these tests."""
    monkeypatch.setattr(translate_first, "LanguageDetector", lambda _: detector)


@pytest.fixture(scope="module")
def texts() -> ParallelTexts:
    texts = ParallelTexts()
    texts.add(QUESTION, "How can I change the schedule of an employee?")
    texts.add(ANSWER, "Click **New** and choose a schedule.")
    texts.add("Rooster", "Schedule")
    return texts


@pytest.fixture
def server(texts: ParallelTexts) -> Iterator[LibreTranslate]:
    with LibreTranslate(texts) as server:
        yield server


@pytest.fixture
def translation(server: LibreTranslate, tmp_path: Path) -> Settings:
    return Settings(
        translation=TranslationSettings(provider="libretranslate", base_url=server.url, timeout_seconds=5),
        documents=DocumentSettings(store=tmp_path / "documents"),
    )


def way_of(settings: Settings, assessor: AsyncScorer, translation: Translating | None) -> Pipeline:
    return Pipeline(LIBRARY, assessor, settings.policy.decide, settings.scoring.profile, translation)


def of_file(settings: Settings, assessor: AsyncScorer, translation: Translating | None) -> OfflinePipeline:
    return OfflinePipeline(way_of(settings, assessor, translation), NOW)


class NotingAssessor:
    """Notes what it is asked, and measures nothing."""

    def __init__(self) -> None:
        self.asked: list[Exchange] = []

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        self.asked.append(exchange)
        return unscored_answer("paper", exchange.language, degraded)


class Counting(TranslationObserver):
    """Notes how exchanges fared."""

    def __init__(self) -> None:
        self.outcomes: list[str] = []

    def exchange_finished(self, outcome: str, seconds: float) -> None:
        self.outcomes.append(outcome)


async def test_what_is_not_in_english_is_translated(translation: Settings) -> None:
    counting = Counting()
    async with open_translation(translation, observer=counting) as opened:
        translated = await opened.translate(EXCHANGE, 10)
        english = await opened.translate(replace(EXCHANGE, language="en"), 10)
        unknown = await opened.translate(Exchange("?", "!", EXCHANGE.context), 10)
        nothing = await opened.translate(replace(EXCHANGE, context=(Passage("d", " "),)), 10)
    assert translated.degraded == ()
    assert translated.exchange.translation
    assert translated.exchange.translation.answer.text == "Click **New** and choose a schedule."
    assert (
        translated.exchange.translation.context[0].text == "Schedule\n\nClick **New** and choose a schedule."
    )
    assert replace(translated.exchange, translation=None) == EXCHANGE
    assert [each.exchange.translation for each in (english, unknown, nothing)] == [None] * 3
    assert [each.degraded for each in (english, unknown, nothing)] == [()] * 3
    assert counting.outcomes == ["translated", "not_needed", "not_needed", "not_needed"]


async def test_a_language_that_is_not_stated_is_identified(translation: Settings) -> None:
    async with open_translation(translation) as opened:
        assert (await opened.translate(replace(EXCHANGE, language=None), 10)).exchange.translation


async def test_nothing_is_translated_or_contacted_unless_configured(
    translation: Settings, server: LibreTranslate
) -> None:
    async with open_translation(translation.with_values("translation", {"provider": None})) as opened:
        assert opened is None
    assert server.asked == []
    assert not translation.documents.store.exists()


async def test_without_a_translation_an_answer_is_as_it_was_and_degraded(
    translation: Settings, server: LibreTranslate
) -> None:
    server.behave(status=500)
    async with open_translation(translation) as opened:
        for _ in range(5):
            translated = await opened.translate(EXCHANGE, 10)
            assert translated.exchange == EXCHANGE
            assert translated.degraded == (Reason.TRANSLATION_UNAVAILABLE,)


@pytest.mark.parametrize("nonsense", ["surrogate", "nul"])
async def test_what_no_text_can_hold_is_no_translation(
    translation: Settings, server: LibreTranslate, nonsense: str
) -> None:
    server.behave(nonsense=nonsense)
    counting = Counting()
    async with open_translation(translation, observer=counting) as opened:
        assert await opened.translate(EXCHANGE, 10) == TranslationResult(
            EXCHANGE, (Reason.TRANSLATION_UNAVAILABLE,)
        )
    assert counting.outcomes == ["not_text"]


async def test_a_defect_of_translating_costs_no_answer_and_is_logged_without_its_text(
    detector: LanguageDetector,
) -> None:
    class Defective:
        async def translate(self, exchange: Exchange, language: str, seconds: float) -> Translation:
            raise LookupError(exchange.question)

    counting = Counting()
    step = translate_first.TranslateFirst(cast("ExchangeTranslator", Defective()), detector, 5, counting)
    with structlog.testing.capture_logs() as lines:
        translated = await step.translate(EXCHANGE, 10)
    assert translated == TranslationResult(EXCHANGE, (Reason.TRANSLATION_UNAVAILABLE,))
    assert counting.outcomes == ["unexpected"]
    assert lines == [
        {"event": "translation_failed_unexpectedly", "error_type": "LookupError", "log_level": "error"}
    ]


async def test_the_languages_of_the_scorers_own_lexicons_are_known_here_too(
    translation: Settings,
    server: LibreTranslate,
    detector: LanguageDetector,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only what cannot be judged as it comes must keep its marks; see ExchangeTranslator."""
    known: list[set[str]] = []

    def noting(lexicons: Iterable[Lexicon]) -> LanguageDetector:
        known.append({lexicon.language for lexicon in lexicons})
        return detector

    monkeypatch.setattr(translate_first, "LanguageDetector", noting)
    own = tmp_path / "lexicons"
    own.mkdir()
    dutch = (files("scoring.lexicon") / "nl.toml").read_text("utf-8")
    (own / "fr.toml").write_text(dutch.replace('language = "nl"', 'language = "fr"', 1), "utf-8")
    server.languages = frozenset({"fr"})
    server.texts = ParallelTexts()
    server.texts.add("Cliquez sur **Nouveau**.", "Click New.")
    asked = Exchange("", "Cliquez sur **Nouveau**.", (Passage("d", "Cliquez sur **Nouveau**."),), "fr")
    translated = []
    for lexicons in (None, own):
        async with open_translation(translation.with_values("scoring", {"lexicons": lexicons})) as opened:
            translated.append((await opened.translate(asked, 10)).exchange.translation is not None)
    assert translated == [False, True]
    assert known == [{"en", "nl"}, {"en", "fr", "nl"}]


class TooSlow:
    """An assessor that is over its time, whatever it is asked."""

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        raise TimeoutError


async def test_an_answer_that_is_neither_translated_nor_judged_in_time_says_both(
    translation: Settings, server: LibreTranslate
) -> None:
    server.behave(status=500)
    settings = translation
    async with open_translation(translation) as opened:
        from_file = await of_file(settings, TooSlow(), opened).verdict(RECORD)
        way = way_of(settings, TooSlow(), opened)
        of_worker = await way.verdict(RECORD, Deadline(_now() + 10), lambda: NOW)
    assert from_file.degraded == of_worker.degraded == ("scoring_timeout", "translation_unavailable")


async def test_the_smaller_time_limit_holds(translation: Settings, server: LibreTranslate) -> None:
    server.behave(delay=20)
    for limit, seconds in ((20, 0.2), (0.2, 20)):
        changed = translation.with_values("translation", {"timeout_seconds": limit})
        async with open_translation(changed) as opened:
            began = time.monotonic()
            assert (await opened.translate(EXCHANGE, seconds)).degraded
            assert time.monotonic() - began < 15


async def test_the_worker_judges_the_translation(translation: Settings, tmp_path: Path) -> None:
    settings = translation
    assessor = NotingAssessor()
    async with open_translation(translation) as opened:
        way = way_of(settings, assessor, opened)
        verdict = await way.verdict(RECORD, Deadline(_now() + 10), lambda: NOW)
    assert verdict.degraded == ()
    assert assessor.asked[0].translation


async def test_a_worker_without_its_translator_judges_in_half_of_the_time_that_is_left(
    translation: Settings, server: LibreTranslate
) -> None:
    server.behave(delay=16)
    settings = translation
    assessor = NotingAssessor()
    async with open_translation(translation) as opened:
        way = way_of(settings, assessor, opened)
        began = time.monotonic()
        verdict = await way.verdict(RECORD, Deadline(_now() + 8), lambda: NOW)
        assert 4 <= time.monotonic() - began < 8
    assert verdict.degraded == ("translation_unavailable",)
    assert verdict.decision == "review"
    assert [exchange.translation for exchange in assessor.asked] == [None]


def _now() -> float:
    return asyncio.get_running_loop().time()


async def test_a_file_is_judged_on_translations_too(translation: Settings) -> None:
    settings = Settings()
    assessor = NotingAssessor()
    async with open_translation(translation) as opened:
        await of_file(settings, assessor, opened).verdict(RECORD)
    await of_file(settings, assessor, None).verdict(RECORD)
    assert [bool(exchange.translation) for exchange in assessor.asked] == [True, False]


def test_telemetry_shows_states_counts_and_times_and_logs_each_change_once() -> None:
    instruments = Instruments()
    instruments.begin_section("Translation")
    telemetry = TranslationMetrics(instruments)
    with structlog.testing.capture_logs() as lines:
        telemetry.breaker_changed(BreakerState.OPEN)
        telemetry.breaker_changed(BreakerState.HALF_OPEN)
        for _ in range(3):
            telemetry.cache_failed("SQLITE_FULL")
        telemetry.document_failed("d-1", TranslationFault.EMPTY)
    telemetry.exchange_finished("translated", 0.2)
    telemetry.exchange_finished("not_needed", 0)
    telemetry.call_finished("timeout", 5)
    telemetry.cache_looked_up(3, 1)
    assert [(line["event"], line["log_level"]) for line in lines] == [
        ("translation_breaker", "warning"),
        ("translation_breaker", "info"),
        ("translation_cache_failed", "warning"),
        ("document_not_translated", "warning"),
    ]
    shown = generate_latest(instruments.registry).decode()
    for line in (
        'truthgate_translations_total{outcome="translated"} 1.0',
        "truthgate_translation_duration_seconds_count 1.0",
        'truthgate_translation_call_duration_seconds_count{outcome="timeout"} 1.0',
        'truthgate_translation_cache_lookups_total{result="hit"} 3.0',
        'truthgate_translation_breaker{state="half_open"} 1.0',
        'truthgate_translation_cache_errors_total{error_type="SQLITE_FULL"} 3.0',
    ):
        assert line in shown


@pytest.mark.parametrize(
    ("variables", "part"),
    [
        ({"PROVIDER": "bing"}, "TRUTHGATE_TRANSLATION__PROVIDER: "),
        ({"BASE_URL": "libre:5000"}, "TRUTHGATE_TRANSLATION__BASE_URL: should be an http"),
        ({"TIMEOUT_SECONDS": "0"}, "TRUTHGATE_TRANSLATION__TIMEOUT_SECONDS: "),
        ({"APIKEY": "s3cret"}, "did you mean TRUTHGATE_TRANSLATION__API_KEY?"),
    ],
)
def test_a_wrong_setting_is_one_line(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], part: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"TRUTHGATE_TRANSLATION__{name}", value)
    with pytest.raises(InvalidSettings) as raised:
        load_settings()
    assert part in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"provider": "libretranslate"}, "provider libretranslate needs base_url"),
        ({"provider": "deepl"}, "provider deepl needs api_key"),
    ],
)
async def test_what_a_provider_needs_is_told_at_the_start(changes: dict, part: str, tmp_path: Path) -> None:
    settings = Settings(documents={"store": tmp_path}).with_values("translation", changes)
    with pytest.raises(InvalidSettings, match=part):
        async with open_translation(settings):
            pass


async def test_a_cache_that_cannot_be_made_is_told_at_the_start(
    translation: Settings, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    settings = translation.with_values("documents", {"store": tmp_path / "file"})
    with pytest.raises(InvalidSettings, match="cannot use"):
        async with open_translation(settings):
            pass
