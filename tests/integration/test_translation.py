"""A worker and the command line on translations: with a translator, without one, and with one again."""

import asyncio
import json
import threading
from collections.abc import Iterator
from importlib.resources import files
from itertools import count
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from schemas import Codec
from schemas.records import ChatbotAnswer, Verdict
from streams.kafka.topics import Topics
from streams.pipeline.verdict import verdict_id
from streams.settings import Settings
from tests.support.commands import truthgate
from tests.support.ledger import outgoing, read_until_settled, sample_answers
from tests.support.libretranslate import LibreTranslate
from tests.support.parallel_texts import ParallelTexts
from tests.support.records import produce
from tests.support.workers import Worker, changed

UNAVAILABLE = "translation_unavailable"
#: What an answer may wait for its translation; the test's deadlines are far beyond it.
_TIME_LIMIT = 3
# The breaker stays open for some multiples of the time limit.
_RECOVERY_SECONDS = 120


@pytest.fixture
def server() -> Iterator[LibreTranslate]:
    with LibreTranslate(ParallelTexts.of_sample()) as server:
        yield server


@pytest.fixture
def translating(settings: Settings, server: LibreTranslate) -> Settings:
    return changed(
        settings,
        scoring={"processes": 1},
        log={"level": "debug"},
        translation={
            "provider": "libretranslate",
            "base_url": server.url,
            "timeout_seconds": _TIME_LIMIT,
        },
    )


class Stream:
    """Sends answers to a running worker and gives their verdicts."""

    def __init__(self, settings: Settings, topics: Topics) -> None:
        self._settings = settings
        self._topics = topics
        self._sent: list[ChatbotAnswer] = []

    async def judged(self, run: str, count: int = 12) -> list[Verdict]:
        """Give the verdicts on so many answers, in their order."""
        answers = sample_answers(count, run)
        self._sent += answers
        await produce(self._settings.kafka, self._topics.answers, [outgoing(a, Codec()) for a in answers])
        ledger = await read_until_settled(self._settings, self._sent)
        ledger.assert_settled(self._sent)
        by_id = {verdict.verdict_id: verdict for verdict in ledger.verdicts}
        return [by_id[verdict_id(answer.answer_id)] for answer in answers]

    async def judged_translated_again(self) -> list[Verdict]:
        """Give the verdicts on answers sent after the worker has found its translator again."""
        async with asyncio.timeout(_RECOVERY_SECONDS):
            for attempt in count():
                verdicts = await self.judged(f"back-{attempt}", 3)
                if all(UNAVAILABLE not in verdict.degraded for verdict in verdicts):
                    return verdicts
        raise AssertionError("the worker does not find its translator again")


def _states(worker: Worker) -> list[str]:
    lines = (json.loads(line) for line in worker.log.splitlines() if '"translation_breaker"' in line)
    return [line["state"] for line in lines]


def _counted(worker: Worker) -> dict[str, float]:
    families = text_string_to_metric_families(worker.metrics())
    samples = (sample for family in families for sample in family.samples)
    return {s.labels["outcome"]: s.value for s in samples if s.name == "truthgate_translations_total"}


async def test_verdicts_keep_coming_while_the_translator_is_away_and_are_translated_again_after_it(
    translating, topics, server, tmp_path
):
    stream = Stream(translating, topics)
    with Worker(translating, tmp_path) as worker:
        worker.wait_ready()
        with_it = await stream.judged("with")
        assert all(verdict.degraded == () for verdict in with_it)
        assert any(verdict.translated for verdict in with_it)
        assert _states(worker) == []

        server.stop()
        without = await stream.judged("without")
        assert all(verdict.degraded == (UNAVAILABLE,) and not verdict.translated for verdict in without)
        assert all(verdict.decision != "auto_send" for verdict in without)
        assert "open" in _states(worker)

        server.start()
        await stream.judged_translated_again()
        assert _states(worker)[-2:] == ["half_open", "closed"]

        server.behave(gate=(gate := threading.Event()))
        hanging = await stream.judged("hanging")
        assert all(verdict.degraded == (UNAVAILABLE,) for verdict in hanging)
        gate.set()
        server.behave()
        again = await stream.judged_translated_again()
        assert any(verdict.translated for verdict in again)

        counted = _counted(worker)
        assert counted["translated"] >= 12
        assert counted["breaker_open"] >= 1
        assert worker.terminate() == 0
    assert all(UNAVAILABLE not in text for text in server.unknown)
    assert "Crediteren" not in worker.log
    assert "crediteren" not in worker.log


def _score(server: LibreTranslate, folder: Path, *arguments: str) -> tuple[int, list[dict], str]:
    sample = Path(str(files("streams") / "sample"))
    answers = folder / "answers.jsonl"
    lines = (sample / "answers.nl.jsonl").read_text("utf-8").splitlines(keepends=True)
    answers.write_text("".join(lines[:4]), "utf-8")
    done = truthgate(
        "score",
        answers,
        "--documents",
        sample / "documents.nl.jsonl",
        "--processes",
        "1",
        *arguments,
        environment={
            "TRUTHGATE_TRANSLATION__PROVIDER": "libretranslate",
            "TRUTHGATE_TRANSLATION__BASE_URL": server.url,
            "TRUTHGATE_DOCUMENTS__STORE": str(folder / "store"),
        },
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_a_file_is_scored_on_translations_when_asked_to(server, tmp_path):
    code, verdicts, _ = _score(server, tmp_path, "--translate", "always")
    assert code == 0
    assert any(verdict["translated"] for verdict in verdicts)
    assert not any(verdict["degraded"] for verdict in verdicts)
    assert server.asked
    for verdict in verdicts:
        for feature in verdict["features"]:
            for evidence in feature["evidence"]:
                assert verdict["answer"][evidence["start"] : evidence["end"]] == evidence["text"]


@pytest.mark.parametrize(("mode", "expected"), [("always", 3), ("auto", 0)])
def test_a_file_is_scored_as_it_is_when_the_translator_is_away(server, tmp_path, mode, expected):
    server.stop()
    code, verdicts, told = _score(server, tmp_path, "--translate", mode)
    assert code == expected
    assert len(verdicts) == 4
    assert all(verdict["degraded"] == [UNAVAILABLE] for verdict in verdicts)
    *_, last = told.splitlines()
    assert last == f"truthgate: 4 answers could not be translated: degraded {UNAVAILABLE}"


def test_a_file_is_scored_as_it_is_with_translation_off(server, tmp_path):
    code, verdicts, _ = _score(server, tmp_path, "--translate", "off")
    assert code == 0
    assert not any(verdict["translated"] for verdict in verdicts)
    assert server.asked == []
