"""An exchange is translated part by part, with few calls, and each document only once."""

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from scoring.cache.call_guards import BreakerState
from scoring.lexicon import load_shipped
from scoring.text.language_detection import LanguageDetector
from scoring.translation.calls import RetryPolicy
from scoring.translation.engines import ProviderOptions
from scoring.translation.errors import TranslationFailed, TranslationFault, TranslationObserver
from scoring.translation.translator import ExchangeTranslator, TranslatorOptions
from scoring.values.exchange import Exchange, Passage, TranslatedText
from tests.support.libretranslate import LibreTranslate
from tests.support.parallel_texts import ParallelTexts
from tests.support.records import eventually

QUICK = RetryPolicy(3, 0.01, 0.02)


class Watching(TranslationObserver):
    """Counts what it hears."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.hits = self.misses = 0
        self.states: list[BreakerState] = []
        self.failed: list[tuple[str, TranslationFault]] = []

    def call_finished(self, outcome: str, seconds: float) -> None:
        assert 0 <= seconds < 30
        self.calls[outcome] += 1

    def cache_looked_up(self, hits: int, misses: int) -> None:
        self.hits += hits
        self.misses += misses

    def breaker_changed(self, state: BreakerState) -> None:
        self.states.append(state)

    def document_failed(self, document_id: str, fault: TranslationFault) -> None:
        self.failed.append((document_id, fault))

    def cache_failed(self, error: str) -> None:
        raise AssertionError(error)


def _records(name: str, key: str) -> dict[str, dict]:
    lines = (files("streams") / "sample" / name).read_text("utf-8").splitlines()
    return {record[key]: record for record in map(json.loads, lines)}


DUTCH, ENGLISH = (_records(f"documents.{code}.jsonl", "document_id") for code in ("nl", "en"))
ASKED, ASKED_ENGLISH = (_records(f"answers.{code}.jsonl", "answer_id") for code in ("nl", "en"))


def exchange(answer: dict) -> Exchange:
    passages = (Passage(i, DUTCH[i]["text"], DUTCH[i]["title"]) for i in answer["document_ids"])
    return Exchange(answer["question"], answer["answer"], tuple(passages), "nl")


ONE = exchange(next(iter(ASKED.values())))
TWO = exchange(list(ASKED.values())[5])


@pytest.fixture(scope="module")
def texts() -> ParallelTexts:
    return ParallelTexts.of_sample()


@pytest.fixture(scope="module")
def identify() -> Callable[[str], str | None]:
    return LanguageDetector(load_shipped().values()).detect


@pytest.fixture
def server(texts: ParallelTexts) -> Iterator[LibreTranslate]:
    with LibreTranslate(texts) as server:
        yield server


@pytest.fixture
def watching() -> Watching:
    return Watching()


@pytest.fixture
def options(server: LibreTranslate, tmp_path: Path) -> TranslatorOptions:
    provider = ProviderOptions("libretranslate", server.url, timeout_seconds=30)
    cache, native = tmp_path / "cache.sqlite3", frozenset({"nl", "en"})
    return TranslatorOptions(provider, QUICK, breaker_reset_seconds=0.3, cache=cache, native=native)


Make = Callable[[TranslatorOptions], ExchangeTranslator]


@pytest.fixture
def make(identify, watching: Watching) -> Iterator[Make]:
    with ExitStack() as stack:
        yield lambda options: stack.enter_context(closing(ExchangeTranslator(options, identify, watching)))


@pytest.fixture
def translator(options: TranslatorOptions, make: Make) -> ExchangeTranslator:
    return make(options)


async def fault(
    translator: ExchangeTranslator, asked: Exchange = ONE, seconds: float = 10
) -> TranslationFault:
    with pytest.raises(TranslationFailed) as raised:
        await translator.translate(asked, "nl", seconds)
    return raised.value.fault


def _differences(dutch: str, translated: str, english: str, texts: ParallelTexts) -> list[tuple[str, str]]:
    """Give the lines that differ, but for those whose rendering depends on what a translator cannot know."""
    lines = zip(dutch.split("\n"), translated.split("\n"), english.split("\n"), strict=True)
    return [(found, right) for line, found, right in lines if found != right and not texts.is_ambiguous(line)]


async def test_the_dutch_sample_becomes_the_english_one(
    options: TranslatorOptions, server: LibreTranslate, texts: ParallelTexts, make: Make, watching: Watching
) -> None:
    """Every answer and document, line by line, with far fewer calls than sentences."""
    translator = make(options)
    for answer_id, answer in ASKED.items():
        done = await translator.translate(exchange(answer), "nl", 60)
        english = ASKED_ENGLISH[answer_id]
        assert not _differences(answer["question"], done.question.text, english["question"], texts)
        assert not _differences(answer["answer"], done.answer.text, english["answer"], texts)
        for document_id, translated in zip(answer["document_ids"], done.context, strict=True):
            dutch, expected = (
                f"{doc[document_id]['title']}\n\n{doc[document_id]['text']}" for doc in (DUTCH, ENGLISH)
            )
            assert not _differences(dutch, translated.text, expected, texts)
            _assert_aligned(dutch, translated, texts)
    assert server.unknown == []
    assert watching.calls == {"translated": len(server.asked)}
    assert len(server.asked) < 300
    assert all(len(asked.texts[0]) <= 1000 and not asked.query for asked in server.asked)


def _assert_aligned(original: str, translated: TranslatedText, texts: ParallelTexts) -> None:
    for segment in translated.segments:
        source = original[segment.start : segment.end]
        target = translated.text[segment.translated_start : segment.translated_end]
        assert target == source or target in texts.renderings(source)


async def test_documents_are_translated_once_and_not_again_after_a_restart(
    options: TranslatorOptions, server: LibreTranslate, make: Make, watching: Watching
) -> None:
    documents = replace(ONE, question="", answer="")
    first = make(options)
    done = await first.translate(documents, "nl", 10)
    calls = len(server.asked)
    assert await first.translate(documents, "nl", 10) == done
    first.close()
    assert await make(options).translate(documents, "nl", 10) == done
    assert len(server.asked) == calls
    assert watching.misses < watching.hits


async def test_questions_and_answers_are_not_cached_on_disk(
    options: TranslatorOptions, server: LibreTranslate, make: Make
) -> None:
    for _ in range(2):
        translator = make(options)
        await translator.translate(replace(ONE, context=()), "nl", 10)
        translator.close()
    assert len(server.asked) == 4
    assert options.cache
    assert b"Credit" not in options.cache.read_bytes()


async def test_concurrent_requests_for_a_document_translate_it_once(
    translator: ExchangeTranslator, server: LibreTranslate
) -> None:
    server.behave(delay=0.02)
    documents = replace(ONE, question="", answer="")
    done = await asyncio.gather(*(translator.translate(documents, "nl", 10) for _ in range(50)))
    assert all(each == done[0] for each in done)
    sent = Counter(asked.texts[0] for asked in server.asked)
    assert max(sent.values()) == 1


async def test_a_timeout_keeps_what_was_translated_for_the_next_answer(
    options: TranslatorOptions, server: LibreTranslate, make: Make, watching: Watching
) -> None:
    server.behave(delay=0.1)
    translator = make(replace(options, batch_characters=300))
    outcomes = []
    for _ in range(100):
        try:
            await translator.translate(TWO, "nl", 0.25)
        except TranslationFailed as failure:
            outcomes.append(failure.fault)
        else:
            break
    assert 1 <= len(outcomes) < 99
    assert set(outcomes) == {TranslationFault.TIMEOUT}
    assert watching.states == []


async def test_no_answer_waits_beyond_its_timeout(
    options: TranslatorOptions, server: LibreTranslate, make: Make
) -> None:
    server.behave(gate=(gate := threading.Event()))
    began = time.monotonic()
    assert await fault(make(options), seconds=0.2) is TranslationFault.TIMEOUT
    assert time.monotonic() - began < 15  # half of the call's own timeout
    gate.set()


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        ({"status": 500}, TranslationFault.SERVER_ERROR),
        ({"status": 429}, TranslationFault.RATE_LIMITED),
        ({"reset": True}, TranslationFault.UNREACHABLE),
        ({"body": b"<html>"}, TranslationFault.SERVER_ERROR),
    ],
)
async def test_failing_calls_are_retried_and_then_open_the_breaker(
    options: TranslatorOptions,
    server: LibreTranslate,
    make: Make,
    watching: Watching,
    behaviour: dict,
    expected: TranslationFault,
) -> None:
    server.behave(**behaviour)
    translator = make(replace(options, breaker_reset_seconds=1))
    faults = {await fault(translator, replace(ONE, context=())) for _ in range(3)}
    assert expected in faults
    assert faults <= {expected, TranslationFault.BREAKER_OPEN}
    assert watching.states[0] is BreakerState.OPEN
    calls = len(server.asked)
    began = time.monotonic()
    rejected = [await fault(translator, TWO) for _ in range(20)].count(TranslationFault.BREAKER_OPEN)
    trials = len(server.asked) - calls
    assert rejected >= 20 - trials
    assert trials <= time.monotonic() - began + 1  # one trial call a second
    server.behave()
    end = time.monotonic() + 10
    while watching.states[-1] is not BreakerState.CLOSED:
        assert time.monotonic() < end
        with suppress(TranslationFailed):
            await translator.translate(replace(ONE, context=()), "nl", 1)
    assert await translator.translate(ONE, "nl", 10)


async def test_after_a_failure_a_timeout_of_the_same_task_is_a_timeout(
    options: TranslatorOptions, server: LibreTranslate, make: Make
) -> None:
    server.behave(status=500)
    with pytest.raises(TranslationFailed):
        await make(options).translate(ONE, "nl", 10)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await asyncio.sleep(1)
    task = asyncio.current_task()
    assert task
    assert task.cancelling() == 0


async def test_a_failed_call_is_retried(
    translator: ExchangeTranslator, server: LibreTranslate, watching: Watching
) -> None:
    server.fail_next(2)
    assert await translator.translate(replace(ONE, context=()), "nl", 10)
    assert watching.calls["server_error"] == 2
    assert watching.states == []


async def test_a_silent_server_opens_the_breaker(
    options: TranslatorOptions, server: LibreTranslate, make: Make
) -> None:
    server.behave(gate=(gate := threading.Event()))
    provider = replace(options.provider, timeout_seconds=0.2, threads=1)
    translator = make(replace(options, provider=provider, retries=RetryPolicy(1), breaker_failures=2))
    faults = [await fault(translator, seconds=0.3) for _ in range(4)]
    assert faults[-1] is TranslationFault.BREAKER_OPEN
    gate.set()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("echo", TranslationFault.NOT_ENGLISH),
        ("empty", TranslationFault.EMPTY),
        ("long", TranslationFault.WRONG_LENGTH),
        ("short", TranslationFault.WRONG_LENGTH),
        ("numbers", TranslationFault.NUMBERS_LOST),
        ("list", TranslationFault.SERVER_ERROR),
        ("none", TranslationFault.EMPTY),
        ("surrogate", TranslationFault.NOT_TEXT),
        ("nul", TranslationFault.NOT_TEXT),
    ],
)
async def test_an_implausible_translation_is_a_fault_and_is_not_cached(
    translator: ExchangeTranslator,
    server: LibreTranslate,
    watching: Watching,
    kind: str,
    expected: TranslationFault,
) -> None:
    server.behave(nonsense=kind)
    lines = DUTCH["hr-medewerker-toevoegen"]["text"].split("\n")
    asked = Exchange("", "", (Passage("d", "\n".join(lines[16:20])),), "nl")
    assert await fault(translator, asked) is expected
    calls = len(server.asked)
    server.behave()
    if expected is TranslationFault.SERVER_ERROR:
        assert await translator.translate(asked, "nl", 10)
        assert watching.failed == []
    else:  # nothing better is expected of the same text for a while
        assert await fault(translator, asked) is expected
        assert len(server.asked) == calls
        assert watching.failed == [("d", expected)]


async def test_merged_lines_are_translated_one_by_one(
    translator: ExchangeTranslator, server: LibreTranslate
) -> None:
    server.behave(nonsense="merged")
    asked = replace(ONE, question="", answer="")
    merged = await translator.translate(asked, "nl", 10)
    server.behave()
    lines = ENGLISH[ONE.context[0].document_id]["text"].split("\n")
    assert merged.context[0].text.split("\n")[2:] == lines


async def test_a_language_without_a_lexicon_must_keep_its_bold_marks(
    options: TranslatorOptions, server: LibreTranslate, make: Make
) -> None:
    server.texts = ParallelTexts()
    server.texts.add("Klik op **Nieuw**.", "Click New.")
    answer = Exchange("", "Klik op **Nieuw**.")
    native, foreign = (make(replace(options, native=frozenset({code}))) for code in ("nl", "en"))
    assert (await native.translate(answer, "nl", 5)).answer.text == "Click New."
    assert await fault(foreign, answer) is TranslationFault.MARKS_LOST


async def test_an_english_document_is_left_as_it_is(
    translator: ExchangeTranslator, server: LibreTranslate
) -> None:
    document = next(iter(ENGLISH.values()))
    asked = Exchange("", "", (Passage("d", document["text"], document["title"]), Passage("e", " ")), "nl")
    done = await translator.translate(asked, "nl", 5)
    assert [text.text for text in done.context] == [f"{document['title']}\n\n{document['text']}", " "]
    assert server.asked == []


async def test_a_text_longer_than_any_answer_is_not_sent(
    translator: ExchangeTranslator, server: LibreTranslate
) -> None:
    assert await fault(translator, Exchange("", "Klik op Nieuw. " * 10_000)) is TranslationFault.TOO_LONG
    assert server.asked == []


async def test_nothing_is_sent_after_closing(
    options: TranslatorOptions, server: LibreTranslate, make: Make
) -> None:
    server.behave(gate=(gate := threading.Event()))
    translator = make(options)
    task = asyncio.create_task(fault(translator, TWO, seconds=60))
    calls = options.provider.threads
    await eventually(lambda: len(server.asked) == calls, "every thread has made a call")
    task.cancel()
    translator.close()
    gate.set()
    await asyncio.to_thread(translator._threads.shutdown)
    assert len(server.asked) == calls
