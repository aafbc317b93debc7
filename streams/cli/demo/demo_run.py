"""The run of the demo: topics, documents, worker, answers, verdicts."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import httpx2

from schemas import ChatbotAnswer, KnowledgeDocument, Verdict
from streams.cli.command_output import InputErrors, say
from streams.cli.demo.demo_board import DemoBoard, Show
from streams.cli.demo.demo_judge import RecordedJudge
from streams.cli.demo.demo_policy import PolicyStory, demo_ratings
from streams.cli.demo.demo_process import WorkerProcess
from streams.cli.demo.demo_reviewer import SimulatedReviewer
from streams.cli.demo.sample import Language, sample_answers, sample_documents
from streams.cli.topic_access import (
    OutgoingRecord,
    TimeRange,
    decode_record,
    follow,
    open_encoder,
    publish,
    send_all,
)
from streams.kafka.kafka_records import event_headers
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics, create_topics
from streams.settings import Settings, variable_name

_SOURCE = "demo"
_START_SECONDS = 300.0  # models are loaded and documents indexed, on any machine
_SLACK_SECONDS = 60.0  # beyond an answer's own time limit, on any machine
_POLL_SECONDS = 0.25
_PROBE_SECONDS = 5.0

# After so many answers follows one whose bytes are truncated, so that there is a dead letter.
_ANSWERS_BEFORE_BROKEN = 5


@dataclass(frozen=True, slots=True)
class DemoDesk:
    """The review desk of a demo, whether a simulated reviewer decides there, and the port of the judge.

    Without a port the worker has judges of its own, or none.
    """

    process: WorkerProcess
    reviewer: bool
    judge_port: int | None


@dataclass(frozen=True, slots=True)
class DemoRun:
    """A run of the demo.

    Args:
        settings: those of its processes.
        language: of the sample.
        worker: judges the answers.
        desk: None: nobody reviews.
        show: displays each verdict.
    """

    settings: Settings
    language: Language
    worker: WorkerProcess
    desk: DemoDesk | None
    show: Show

    async def run(self, rate: float, *, keep: bool) -> DemoBoard:
        """Run to the end, and return the results.

        ``rate`` is in answers per second (0: no limit); ``keep`` lets the worker run until Ctrl-C, and so
        does a desk. Raises DemoFailed if a process ends or nothing is published, and ServiceUnreachable.
        """
        answers = sample_answers(self.language)
        board = DemoBoard([answer.answer_id for answer in answers], dead_letters=1)
        await create_topics(self.settings)
        located = [(each.document_id, each) for each in sample_documents(self.language)]
        sent = await publish(self.settings, KnowledgeDocument, located, _SOURCE, InputErrors("sample"))
        say(f"{sent} help documents published")
        judge = RecordedJudge(self.language, answers)
        async with AsyncExitStack() as stack:
            if self.desk and self.desk.judge_port:
                await stack.enter_async_context(judge.serving(self.desk.judge_port))
            processes = [self.worker, *([self.desk.process] if self.desk else [])]
            for each in processes:
                stack.enter_context(each.running())
            await _wait_until_ready(self.settings.web.port, self.worker)
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(_watch(each)) for each in processes]
                    reviewer = self._reviewer()
                    if reviewer:
                        tasks.append(group.create_task(reviewer.run()))
                    await self._play(_with_broken_one(answers), rate, board)
                    if keep or self.desk:
                        _say_kept(self.settings)
                        if reviewer and self.desk and self.desk.judge_port:
                            await self._story(answers, reviewer, judge).run()
                        await tasks[0]
                    for task in tasks:
                        task.cancel()
            except ExceptionGroup as failures:
                raise _first(failures) from None
        return board

    def _reviewer(self) -> SimulatedReviewer | None:
        if self.desk is None:
            return None
        address = page_address(self.settings.desk.port)
        say(f"the review desk: {address} (any name)")
        ratings = demo_ratings(self.language)
        return SimulatedReviewer(self.settings, address, ratings) if self.desk.reviewer else None

    def _story(
        self, answers: Sequence[ChatbotAnswer], reviewer: SimulatedReviewer, judge: RecordedJudge
    ) -> PolicyStory:
        async def play(given: Sequence[ChatbotAnswer], rate: float) -> None:
            await self._play(given, rate, DemoBoard([each.answer_id for each in given]))

        page = page_address(self.settings.desk.port)
        return PolicyStory(
            self.settings, self.language, answers, reviewer, judge, self.worker.run_command, play, page
        )

    async def _play(self, answers: Sequence[ChatbotAnswer | None], rate: float, board: DemoBoard) -> None:
        """Publish the answers, and return when all of them have their verdicts."""
        async with asyncio.TaskGroup() as group:
            group.create_task(_replay(self.settings, answers, rate, board))
            await self._collect(board)

    async def _collect(self, board: DemoBoard) -> None:
        """Add verdicts and dead letters to the board until it is complete; DemoFailed if one is overdue."""
        settings, topics = self.settings, Topics(self.settings.kafka.topic_prefix)
        codec = create_codec(settings)
        self.show(board, None)
        followed = follow(
            settings.kafka, *topics.outputs, topics.dead_letters, period=TimeRange(from_beginning=True)
        )
        limit, now = settings.flow.answer_timeout_seconds + _SLACK_SECONDS, asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(limit) as overdue, aclosing(followed) as records:
                async for record in records:
                    if record.topic == topics.dead_letters:
                        board.letters += 1
                        self.show(board, None)
                    elif (verdict := await decode_record(record, codec, Verdict)) and board.add(verdict):
                        self.show(board, verdict)
                    if board.complete:
                        return
                    overdue.reschedule(now() + limit)
        except TimeoutError:
            failure = f"no verdict for {limit:g} s, {board.settled} of {board.total} so far"
            raise self.worker.failure(failure) from None


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


def _with_broken_one(answers: Sequence[ChatbotAnswer]) -> list[ChatbotAnswer | None]:
    return [*answers[:_ANSWERS_BEFORE_BROKEN], None, *answers[_ANSWERS_BEFORE_BROKEN:]]


def _say_kept(settings: Settings) -> None:
    say("all answers are scored; Kafka and the worker run until Ctrl-C. In another terminal:")
    say(f"export {variable_name('kafka', 'bootstrap_servers')}={settings.kafka.bootstrap_servers}")
    say("truthgate tail --from-beginning    or    truthgate dead-letters list")
    _say_pages(settings.web.port)


def page_address(port: int) -> str:
    """Return the address of the worker's page."""
    return f"http://127.0.0.1:{port}/"


def _say_pages(port: int) -> None:
    page = page_address(port)
    say(f"the page with rates and blocked answers: {page}    metrics: {page}metrics")


async def _wait_until_ready(port: int, worker: WorkerProcess) -> None:
    """Wait until the worker accepts answers; raises DemoFailed if it ends, or takes too long."""
    address = f"{page_address(port)}readyz"
    say(f"the worker starts, loads its models and indexes the documents; its health: {address}")
    _say_pages(port)
    deadline = asyncio.get_running_loop().time() + _START_SECONDS
    async with httpx2.AsyncClient(timeout=_PROBE_SECONDS, trust_env=False) as client:
        while True:
            with suppress(httpx2.TransportError):
                if (await client.get(address)).is_success:
                    return
            worker.check_running()
            if asyncio.get_running_loop().time() > deadline:
                raise worker.failure(f"the worker is not ready after {_START_SECONDS:g} s")
            await asyncio.sleep(_POLL_SECONDS)


async def _replay(
    settings: Settings, answers: Sequence[ChatbotAnswer | None], rate: float, board: DemoBoard
) -> None:
    """Publish the answers; None is one whose bytes are truncated."""
    whole = next(filter(None, answers))

    async def open_outgoing() -> Callable[[ChatbotAnswer | None], OutgoingRecord]:
        encoded = await open_encoder(settings, ChatbotAnswer, _SOURCE)

        def outgoing(answer: ChatbotAnswer | None) -> OutgoingRecord:
            if answer is not None:
                return encoded(replace(answer, produced_at=datetime.now(UTC)))  # rates depend on this time
            record = encoded(whole)
            headers = event_headers("broken", "ChatbotAnswer", _SOURCE)
            return replace(record, key=b"broken", value=(record.value or b"")[:40], headers=headers)

        return outgoing

    async def paced() -> AsyncGenerator[tuple[str, ChatbotAnswer | None], None]:
        loop = asyncio.get_running_loop()
        start = loop.time()
        for index, answer in enumerate(answers):
            due = start + index / rate if rate else start
            await asyncio.sleep(due - loop.time())
            yield str(index), answer
            board.sent += 1

    topic = Topics(settings.kafka.topic_prefix).answers
    await send_all(settings, topic, paced(), open_outgoing, InputErrors("sample"))


async def _watch(process: WorkerProcess) -> None:
    """Raise DemoFailed if the process or Kafka ends."""
    while True:
        await asyncio.sleep(_POLL_SECONDS)
        process.check_running()
