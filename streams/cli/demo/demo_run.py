"""The run of the demo: topics, documents, worker, answers, verdicts."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import httpx2

from schemas import BadLine, ChatbotAnswer, Codec, KnowledgeDocument, read_jsonl
from streams.cli.command_errors import InputErrors
from streams.cli.command_output import say
from streams.cli.demo.demo_board import DemoBoard, Show
from streams.cli.record_sender import OutgoingRecord, open_sender, send_all
from streams.cli.tail_commands import decode_verdict
from streams.cli.topic_reading import TimeRange, follow
from streams.embedded import kill_with_parent
from streams.kafka.kafka_records import event_headers
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics, create_topics
from streams.settings import ENV_PREFIX, Settings, variable_name

Language = Literal["nl", "en"]
T = TypeVar("T")

_SOURCE = "demo"
_START_SECONDS = 300.0  # models are loaded and documents indexed, on any machine
_STALL_SECONDS = 60.0
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


class WorkerProcess:
    """A process of ``truthgate worker`` that ends with this process, however this one ends."""

    def __init__(self, variables: Mapping[str, str], log_file: Path) -> None:
        self._variables = variables
        self._log_file = log_file
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def exit_code(self) -> int | None:
        """Its exit code, or None while it runs."""
        return self._process.poll() if self._process else None

    def log_tail(self) -> str:
        """Return the last lines of its log."""
        lines = self._log_file.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-_TAIL_LINES:])

    def __enter__(self) -> Self:
        command = [sys.executable, kill_with_parent.__file__, sys.executable, "-m", "streams.cli", "worker"]
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.upper().startswith(ENV_PREFIX) or name.upper().startswith(_INHERITED)
        }
        with self._log_file.open("wb") as log:
            # A session of its own: Ctrl-C goes to the demo, which then stops the worker.
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={**inherited, **self._variables},
                start_new_session=True,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # its children
        if self._process.stdin:
            self._process.stdin.close()


class DemoFailed(Exception):
    """The demo cannot continue; ``log_tail`` is the end of the worker's log."""

    def __init__(self, message: str, log_tail: str) -> None:
        super().__init__(message)
        self.log_tail = log_tail


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """The options of a run; ``rate`` is in answers per second (0: no limit), ``keep`` keeps it running."""

    settings: Settings
    language: Language
    rate: float
    port: int
    keep: bool


async def run_demo(plan: DemoPlan, worker: WorkerProcess, show: Show) -> DemoBoard:
    """Run the demo to its end and return its results.

    Raises:
        DemoFailed: the worker ends, or publishes nothing.
        ServiceUnreachable: Kafka does not answer.
    """
    answers = sample_answers(plan.language)
    board = DemoBoard([answer.answer_id for answer in answers], dead_letters=1)
    await create_topics(plan.settings)
    say(f"{await _publish_documents(plan)} help documents published")
    with worker:
        await _wait_until_ready(plan, worker)
        watching = _watch(worker, board)
        await _run_until(_collect(plan.settings, board, show), _replay(plan, answers, board), watching)
        if plan.keep:
            servers = plan.settings.kafka.bootstrap_servers
            say("all answers are scored; Kafka and the worker run until Ctrl-C. In another terminal:")
            say(f"export {variable_name('kafka', 'bootstrap_servers')}={servers}")
            say("truthgate tail --from-beginning    or    truthgate dead-letters list")
            _say_pages(plan.port)
            await _watch(worker, DemoBoard(()))
    return board


def page_address(port: int) -> str:
    """Return the address of the worker's page."""
    return f"http://127.0.0.1:{port}/"


def _say_pages(port: int) -> None:
    page = page_address(port)
    say(f"the page with rates and blocked answers: {page}    metrics: {page}metrics")


async def _wait_until_ready(plan: DemoPlan, worker: WorkerProcess) -> None:
    """Wait until the worker accepts answers; raises DemoFailed if it ends, or takes too long."""
    address = f"{page_address(plan.port)}readyz"
    say(f"the worker starts, loads its models and indexes the documents; its health: {address}")
    _say_pages(plan.port)
    deadline = asyncio.get_running_loop().time() + _START_SECONDS
    async with httpx2.AsyncClient(timeout=_PROBE_SECONDS, trust_env=False) as client:
        while not await _is_ready(client, address):
            _check_running(worker)
            if asyncio.get_running_loop().time() > deadline:
                raise DemoFailed(f"the worker is not ready after {_START_SECONDS:g} s", worker.log_tail())
            await asyncio.sleep(_POLL_SECONDS)


async def _is_ready(client: httpx2.AsyncClient, address: str) -> bool:
    try:
        return (await client.get(address)).is_success
    except httpx2.TransportError:
        return False


def _check_running(worker: WorkerProcess) -> None:
    if worker.exit_code is not None:
        raise DemoFailed(f"the worker ended with exit code {worker.exit_code}", worker.log_tail())


async def _publish_documents(plan: DemoPlan) -> int:
    topic, codec = Topics(plan.settings.kafka.topic_prefix).documents, Codec()

    def outgoing(document: KnowledgeDocument) -> OutgoingRecord:
        headers = event_headers(document.document_id, "KnowledgeDocument", _SOURCE)
        return OutgoingRecord(topic, document.document_id.encode(), codec.encode(document), headers)

    async def located() -> AsyncIterator[tuple[str, KnowledgeDocument]]:
        for document in sample_documents(plan.language):
            yield document.document_id, document

    async with open_sender(plan.settings, topic) as sender:
        return await send_all(located(), outgoing, sender, InputErrors("sample"))


async def _replay(plan: DemoPlan, answers: list[ChatbotAnswer], board: DemoBoard) -> None:
    topic, codec = Topics(plan.settings.kafka.topic_prefix).answers, Codec()

    def outgoing(answer: ChatbotAnswer | None) -> OutgoingRecord:
        if answer is None:
            headers = event_headers("broken", "ChatbotAnswer", _SOURCE)
            return OutgoingRecord(topic, b"broken", codec.encode(answers[0])[:40], headers)
        fresh = replace(answer, produced_at=datetime.now(UTC))  # rates depend on the time of the answer
        headers = event_headers(answer.answer_id, "ChatbotAnswer", _SOURCE)
        return OutgoingRecord(topic, answer.conversation_id.encode(), codec.encode(fresh), headers)

    async def paced() -> AsyncIterator[tuple[str, ChatbotAnswer | None]]:
        loop, count = asyncio.get_running_loop(), _ANSWERS_BEFORE_BROKEN
        start = loop.time()
        for index, answer in enumerate([*answers[:count], None, *answers[count:]]):
            due = start + index / plan.rate if plan.rate else start
            await asyncio.sleep(due - loop.time())
            yield str(index), answer
            board.sent += 1

    async with open_sender(plan.settings, topic) as sender:
        await send_all(paced(), outgoing, sender, InputErrors("sample"))


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
            elif (verdict := await decode_verdict(record, codec)) and board.add(verdict):
                show(board, verdict)
            if board.complete:
                return


async def _watch(worker: WorkerProcess, board: DemoBoard) -> None:
    """Raise DemoFailed if the worker ends, or publishes nothing for a minute."""
    loop = asyncio.get_running_loop()
    settled, since = board.settled, loop.time()
    while True:
        await asyncio.sleep(_POLL_SECONDS)
        _check_running(worker)
        if board.settled != settled or board.complete:
            settled, since = board.settled, loop.time()
        elif loop.time() - since > _STALL_SECONDS:
            raise DemoFailed(
                f"no verdict for {_STALL_SECONDS:g} s, {settled} of {board.total} so far", worker.log_tail()
            )


async def _run_until(main: Coroutine[Any, Any, None], *others: Coroutine[Any, Any, None]) -> None:
    """Run all until ``main`` ends, raise the first failure of any, and cancel the others."""
    first = asyncio.create_task(main)
    running = {first, *map(asyncio.create_task, others)}
    try:
        while not first.done():
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            running -= done
            for task in done:
                task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
