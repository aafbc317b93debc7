"""The run of the demo: topics, documents, worker, answers, verdicts."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Literal, TypeVar

import httpx2

from schemas import BadLine, ChatbotAnswer, KnowledgeDocument, Verdict, read_jsonl
from streams.cli.command_output import InputErrors, say
from streams.cli.demo.demo_board import DemoBoard, Show
from streams.cli.demo.demo_reviewer import review_until_a_person_does
from streams.cli.topic_access import (
    OutgoingRecord,
    TimeRange,
    decode_record,
    follow,
    open_encoder,
    publish,
    send_all,
)
from streams.embedded import kill_with_parent
from streams.kafka.kafka_records import event_headers
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics, create_topics
from streams.settings import ENV_PREFIX, Settings, variable_name

Language = Literal["nl", "en"]
T = TypeVar("T")

_SOURCE = "demo"
_START_SECONDS = 300.0  # models are loaded and documents indexed, on any machine
_SLACK_SECONDS = 60.0  # beyond an answer's own time limit, on any machine
_STOP_SECONDS = 20.0
_POLL_SECONDS = 0.25
_PROBE_SECONDS = 5.0
_TAIL_LINES = 8

# After so many answers follows one whose bytes are truncated, so that there is a dead letter.
_ANSWERS_BEFORE_BROKEN = 5

# The user's settings for scoring apply in the demo, too; addresses and files do not, except for the language
# models that the demo is set to ask.
_INHERITED = tuple(ENV_PREFIX + section for section in ("POLICY", "SCORING", "FLOW", "LOG"))


def sample_documents(language: Language) -> list[KnowledgeDocument]:
    """Read the help documents of the sample."""
    return _read_sample("documents", language, KnowledgeDocument)


def sample_answers(language: Language) -> list[ChatbotAnswer]:
    """Read the chat log of the sample, with answers that quote a guide interspersed."""
    answers = _read_sample("answers", language, ChatbotAnswer)
    guides = _read_sample("guides", language, ChatbotAnswer)
    distance = len(answers) // len(guides)
    for number, guide in enumerate(guides):
        answers.insert(number * (distance + 1) + distance // 2, guide)
    return answers


def _read_sample(name: str, language: Language, record_type: type[T]) -> list[T]:
    path = Path(str(files("streams") / "sample" / f"{name}.{language}.jsonl"))
    return [line for _, line in read_jsonl(path, record_type) if not isinstance(line, BadLine)]


class DemoFailed(Exception):
    """The demo cannot continue; ``log_tail`` is the end of the worker's log."""

    def __init__(self, message: str, log_tail: str) -> None:
        super().__init__(message)
        self.log_tail = log_tail


class WorkerProcess:
    """A process of ``truthgate worker``, or desk, that ends with this process, however this one ends.

    ``kafka_runs`` returns whether the process of its broker exists.
    """

    def __init__(
        self,
        variables: Mapping[str, str],
        log_file: Path,
        kafka_runs: Callable[[], bool],
        command: str = "worker",
    ) -> None:
        self._command = command
        self._variables = variables
        self._log_file = log_file
        self._kafka_runs = kafka_runs
        self._process: subprocess.Popen[bytes] | None = None

    def failure(self, message: str) -> DemoFailed:
        """Return the failure with the last lines of the log."""
        lines = self._log_file.read_text(encoding="utf-8", errors="replace").splitlines()
        return DemoFailed(message, "\n".join(lines[-_TAIL_LINES:]))

    def check_running(self) -> None:
        """Raise DemoFailed if the process, or its broker, has ended."""
        if not self._kafka_runs():
            raise self.failure("Kafka ended")
        if self._process and (code := self._process.poll()) is not None:
            raise self.failure(f"the {self._command} ended with exit code {code}")

    @contextmanager
    def running(self) -> Iterator[None]:
        """Start the process, and end it with its children when the block ends."""
        command = [sys.executable, kill_with_parent.__file__, sys.executable, "-m", "streams.cli"]
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.upper().startswith(ENV_PREFIX) or name.upper().startswith(_INHERITED)
        }
        with (
            self._log_file.open("wb") as log,
            # A session of its own: Ctrl-C goes to the demo, which then stops the worker.
            subprocess.Popen(  # noqa: S603 - our own interpreter
                [*command, self._command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={**inherited, **self._variables},
                start_new_session=True,
            ) as self._process,
        ):
            try:
                yield
            finally:
                if self._kafka_runs():  # without it, nothing can be finished
                    self._process.terminate()
                    with suppress(subprocess.TimeoutExpired):
                        self._process.wait(_STOP_SECONDS)
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)  # it, if it still runs, and its children


async def run_demo(
    settings: Settings,
    language: Language,
    rate: float,
    worker: WorkerProcess,
    show: Show,
    *,
    keep: bool,
    desk: WorkerProcess | None = None,
    reviewer: bool = False,
) -> DemoBoard:
    """Run the demo with the worker's settings to its end, and return its results.

    ``rate`` is in answers per second (0: no limit); ``keep`` lets the worker run until Ctrl-C, and so does a
    ``desk``, at which a simulated ``reviewer`` decides. Raises DemoFailed if a process ends or nothing is
    published, and ServiceUnreachable.
    """
    answers = sample_answers(language)
    board = DemoBoard([answer.answer_id for answer in answers], dead_letters=1)
    await create_topics(settings)
    located = [(each.document_id, each) for each in sample_documents(language)]
    sent = await publish(settings, KnowledgeDocument, located, _SOURCE, InputErrors("sample"))
    say(f"{sent} help documents published")
    with worker.running(), desk.running() if desk else nullcontext():
        await _wait_until_ready(settings.web.port, worker)
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(_watch(worker, board, settings))
                tasks = [watching, group.create_task(_replay(settings, answers, rate, board))]
                if desk:
                    say(f"the review desk: {page_address(settings.desk.port)} (any name)")
                    tasks.append(group.create_task(_watch(desk, DemoBoard(()), settings)))
                if reviewer:
                    address = page_address(settings.desk.port)
                    tasks.append(group.create_task(review_until_a_person_does(settings, address, say)))
                await _collect(settings, board, show)
                if keep or desk:
                    _say_kept(settings)
                    await watching
                for task in tasks:
                    task.cancel()
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
    return board


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


async def _replay(settings: Settings, answers: list[ChatbotAnswer], rate: float, board: DemoBoard) -> None:
    async def open_outgoing() -> Callable[[ChatbotAnswer | None], OutgoingRecord]:
        encoded = await open_encoder(settings, ChatbotAnswer, _SOURCE)

        def outgoing(answer: ChatbotAnswer | None) -> OutgoingRecord:
            if answer is not None:
                return encoded(replace(answer, produced_at=datetime.now(UTC)))  # rates depend on this time
            whole = encoded(answers[0])
            headers = event_headers("broken", "ChatbotAnswer", _SOURCE)
            return replace(whole, key=b"broken", value=(whole.value or b"")[:40], headers=headers)

        return outgoing

    async def paced() -> AsyncGenerator[tuple[str, ChatbotAnswer | None], None]:
        loop, count = asyncio.get_running_loop(), _ANSWERS_BEFORE_BROKEN
        start = loop.time()
        for index, answer in enumerate([*answers[:count], None, *answers[count:]]):
            due = start + index / rate if rate else start
            await asyncio.sleep(due - loop.time())
            yield str(index), answer
            board.sent += 1

    topic = Topics(settings.kafka.topic_prefix).answers
    await send_all(settings, topic, paced(), open_outgoing, InputErrors("sample"))


async def _collect(settings: Settings, board: DemoBoard, show: Show) -> None:
    """Add verdicts and dead letters to the board until it is complete."""
    topics, codec = Topics(settings.kafka.topic_prefix), create_codec(settings)
    show(board, None)
    followed = follow(
        settings.kafka, *topics.outputs, topics.dead_letters, period=TimeRange(from_beginning=True)
    )
    async with aclosing(followed) as records:
        async for record in records:
            if record.topic == topics.dead_letters:
                board.letters += 1
                show(board, None)
            elif (verdict := await decode_record(record, codec, Verdict)) and board.add(verdict):
                show(board, verdict)
            if board.complete:
                return


async def _watch(worker: WorkerProcess, board: DemoBoard, settings: Settings) -> None:
    """Raise DemoFailed if the worker or Kafka ends, or no verdict is published although one is overdue."""
    limit = settings.flow.answer_timeout_seconds + _SLACK_SECONDS
    loop = asyncio.get_running_loop()
    settled, since = board.settled, loop.time()
    while True:
        await asyncio.sleep(_POLL_SECONDS)
        worker.check_running()
        if board.settled != settled or board.complete:
            settled, since = board.settled, loop.time()
        elif loop.time() - since > limit:
            raise worker.failure(f"no verdict for {limit:g} s, {settled} of {board.total} so far")
