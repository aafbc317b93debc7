"""An exchange is put into English part by part, with few calls, and documents only once."""

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from scoring.cache.circuit_breaker import BreakerState
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
    provider = ProviderOptions("libretranslate", server.url, timeout_seconds=0.5)
    return TranslatorOptions(
        provider,
        QUICK,
        breaker_reset_seconds=0.3,
        cache=tmp_path / "cache.sqlite3",
        native=frozenset({"nl", "en"}),
    )


@pytest.fixture
def translator(options: TranslatorOptions, identify, watching: Watching) -> Iterator[ExchangeTranslator]:
    translator = ExchangeTranslator(options, identify, watching)
    yield translator
    translator.close()


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
    options: TranslatorOptions, server: LibreTranslate, texts: ParallelTexts, identify, watching: Watching
) -> None:
    """Every answer and document, line by line, in a fraction of the calls that there are sentences."""
    patient = replace(options, provider=replace(options.provider, timeout_seconds=30))
    with closing(ExchangeTranslator(patient, identify, watching)) as translator:
        await _assert_translates_the_sample(translator, texts)
    assert server.unknown == []
    assert watching.calls == {"translated": len(server.asked)}
    assert len(server.asked) < 300
    assert all(len(asked.texts[0]) <= 1000 and not asked.query for asked in server.asked)


async def _assert_translates_the_sample(translator: ExchangeTranslator, texts: ParallelTexts) -> None:
    for answer_id, asked in ASKED.items():
        done = await translator.translate(exchange(asked), "nl", 60)
        right = ASKED_ENGLISH[answer_id]
        assert not _differences(asked["question"], done.question.text, right["question"], texts)
        assert not _differences(asked["answer"], done.answer.text, right["answer"], texts)
        for document_id, translated in zip(asked["document_ids"], done.context, strict=True):
            dutch, english = (
                f"{doc[document_id]['title']}\n\n{doc[document_id]['text']}" for doc in (DUTCH, ENGLISH)
            )
            assert not _differences(dutch, translated.text, english, texts)
            _assert_aligned(dutch, translated, texts)


def _assert_aligned(original: str, translated: TranslatedText, texts: ParallelTexts) -> None:
    for segment in translated.segments:
        source = original[segment.start : segment.end]
        target = translated.text[segment.translated_start : segment.translated_end]
        assert target == source or target in texts.renderings(source)


async def test_documents_are_translated_once_and_not_again_after_a_restart(
    options: TranslatorOptions, server: LibreTranslate, identify, watching: Watching
) -> None:
    documents = replace(ONE, question="", answer="")
    first = ExchangeTranslator(options, identify, watching)
    done = await first.translate(documents, "nl", 10)
    calls = len(server.asked)
    assert await first.translate(documents, "nl", 10) == done
    first.close()
    second = ExchangeTranslator(options, identify, watching)
    assert await second.translate(documents, "nl", 10) == done
    second.close()
    assert len(server.asked) == calls
    assert watching.misses < watching.hits


async def test_questions_and_answers_are_not_kept_on_disk(
    options: TranslatorOptions, server: LibreTranslate, identify, watching: Watching
) -> None:
    for _ in range(2):
        translator = ExchangeTranslator(options, identify, watching)
        await translator.translate(replace(ONE, context=()), "nl", 10)
        translator.close()
    assert len(server.asked) == 4
    assert options.cache
    assert b"Credit" not in options.cache.read_bytes()


async def test_a_document_that_many_ask_for_at_once_is_translated_once(
    translator: ExchangeTranslator, server: LibreTranslate
) -> None:
    server.behave(delay=0.02)
    documents = replace(ONE, question="", answer="")
    done = await asyncio.gather(*(translator.translate(documents, "nl", 10) for _ in range(50)))
    assert all(each == done[0] for each in done)
    sent = Counter(asked.texts[0] for asked in server.asked)
    assert max(sent.values()) == 1


async def test_a_slow_translator_gets_on_from_answer_to_answer(
    options: TranslatorOptions, server: LibreTranslate, identify, watching: Watching
) -> None:
    """What was translated before an answer's time ran out is not translated again for the next one."""
    server.behave(delay=0.1)
    translator = ExchangeTranslator(replace(options, batch_characters=300), identify, watching)
    outcomes = []
    for _ in range(20):
        try:
            await translator.translate(TWO, "nl", 0.25)
        except TranslationFailed as failure:
            outcomes.append(failure.fault)
        else:
            break
    assert 1 <= len(outcomes) < 19
    assert set(outcomes) == {TranslationFault.TIMEOUT}
    assert watching.states == []
    translator.close()


async def test_no_answer_waits_beyond_its_time(
    options: TranslatorOptions, server: LibreTranslate, identify, watching: Watching
) -> None:
    server.behave(gate=(gate := threading.Event()))
    patient = replace(options, provider=replace(options.provider, timeout_seconds=30))
    with closing(ExchangeTranslator(patient, identify, watching)) as translator:
        began = time.monotonic()
        assert await fault(translator, seconds=0.2) is TranslationFault.TIMEOUT
        assert time.monotonic() - began < 15  # half of what the call itself may take
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
async def test_failing_calls_are_tried_again_and_then_keep_everybody_from_waiting(
    options: TranslatorOptions,
    server: LibreTranslate,
    identify,
    watching: Watching,
    behaviour: dict,
    expected: TranslationFault,
) -> None:
    server.behave(**behaviour)
    patient = replace(
        options, breaker_reset_seconds=1, provider=replace(options.provider, timeout_seconds=30)
    )
    with closing(ExchangeTranslator(patient, identify, watching)) as translator:
        await _assert_keeps_everybody_from_waiting(translator, server, watching, expected)


async def _assert_keeps_everybody_from_waiting(
    translator: ExchangeTranslator, server: LibreTranslate, watching: Watching, expected: TranslationFault
) -> None:
    faults = {await fault(translator, replace(ONE, context=())) for _ in range(3)}
    assert expected in faults
    assert faults <= {expected, TranslationFault.BREAKER_OPEN}
    assert watching.states[0] is BreakerState.OPEN
    calls = len(server.asked)
    began = time.monotonic()
    told = [await fault(translator, TWO) for _ in range(20)]
    tried = len(server.asked) - calls
    assert told.count(TranslationFault.BREAKER_OPEN) >= len(told) - tried
    assert tried <= time.monotonic() - began + 1  # after each second one call is let through
    server.behave()
    await _recovers(translator, watching)
    assert await translator.translate(ONE, "nl", 10)


async def _recovers(translator: ExchangeTranslator, watching: Watching) -> None:
    end = time.monotonic() + 10
    while watching.states[-1] is not BreakerState.CLOSED:
        assert time.monotonic() < end
        with suppress(TranslationFailed):
            await translator.translate(replace(ONE, context=()), "nl", 1)


async def test_a_call_that_fails_once_is_tried_again(
    translator: ExchangeTranslator, server: LibreTranslate, watching: Watching
) -> None:
    server.fail_next(2)
    assert await translator.translate(replace(ONE, context=()), "nl", 10)
    assert watching.calls["server_error"] == 2
    assert watching.states == []


async def test_a_translator_that_takes_calls_and_never_answers_is_noticed(
    options: TranslatorOptions, server: LibreTranslate, identify, watching: Watching
) -> None:
    server.behave(gate=(gate := threading.Event()))
    with_one_thread = replace(
        options,
        provider=replace(options.provider, timeout_seconds=0.2, threads=1),
        retries=RetryPolicy(1),
        breaker_failures=2,
    )
    translator = ExchangeTranslator(with_one_thread, identify, watching)
    faults = [await fault(translator, seconds=0.3) for _ in range(4)]
    assert faults[-1] is TranslationFault.BREAKER_OPEN
    gate.set()
    translator.close()


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
async def test_nonsense_is_no_translation_and_is_not_kept(
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


async def test_lines_that_come_back_as_one_are_asked_for_one_by_one(
    translator: ExchangeTranslator, server: LibreTranslate
) -> None:
    server.behave(nonsense="merged")
    asked = replace(ONE, question="", answer="")
    merged = await translator.translate(asked, "nl", 10)
    server.behave()
    lines = ENGLISH[ONE.context[0].document_id]["text"].split("\n")
    assert merged.context[0].text.split("\n")[2:] == lines


async def test_a_language_without_native_lists_must_keep_its_marked_components(
    options: TranslatorOptions, server: LibreTranslate, identify, watching: Watching
) -> None:
    server.texts = ParallelTexts()
    server.texts.add("Klik op **Nieuw**.", "Click New.")
    asked = Exchange("", "Klik op **Nieuw**.")
    for native, fails in ((frozenset({"nl"}), False), (frozenset({"en"}), True)):
        translator = ExchangeTranslator(replace(options, native=native), identify, watching)
        if fails:
            assert await fault(translator, asked) is TranslationFault.MARKS_LOST
        else:
            assert (await translator.translate(asked, "nl", 5)).answer.text == "Click New."
        translator.close()


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


async def test_after_closing_nothing_is_sent_any_more(
    options: TranslatorOptions, server: LibreTranslate, identify, watching: Watching
) -> None:
    server.behave(gate=(gate := threading.Event()))
    patient = replace(options, provider=replace(options.provider, timeout_seconds=30))
    translator = ExchangeTranslator(patient, identify, watching)
    asking = asyncio.create_task(fault(translator, TWO, seconds=60))
    calls = options.provider.threads
    await eventually(lambda: len(server.asked) == calls, "every thread has made a call")
    asking.cancel()
    translator.close()
    gate.set()
    await asyncio.to_thread(translator._threads.shutdown)
    assert len(server.asked) == calls
