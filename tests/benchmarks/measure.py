"""One measurement of a worker, of a bare loop, and of bare scorers; each on answers that are given."""

import json
import statistics
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from schemas import ChatbotAnswer, Codec
from tests.benchmarks.checkout import Checkout, Scene, create_topics, running, worker
from tests.benchmarks.flow import Headers, Sent, Watch, publish, watching
from tests.benchmarks.usage import Memory, Usage, memory, usage

#: What is published beyond what counts, so that nothing runs dry before the end.
_REST = 300


@dataclass(frozen=True, slots=True)
class Span:
    """How many answers count, after how many with which everything gets warm."""

    warm: int
    events: int

    @property
    def published(self) -> int:
        """How many there must be."""
        return self.warm + self.events + _REST


@dataclass(frozen=True, slots=True)
class Passed:
    """What so many answers took."""

    count: int
    used: Usage

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.count / self.used.clock

    def milliseconds(self, part: Callable[[Usage], float]) -> float:
        """Processor time of a part of an answer."""
        return 1000 * part(self.used) / self.count


@dataclass(frozen=True, slots=True)
class Judged:
    """A worker under full load, and its latencies in seconds at half of it."""

    full: Passed
    latencies: list[float]
    memory: Memory

    def latency(self, percent: int) -> float:
        """Give the milliseconds within which so many of a hundred verdicts came."""
        return 1000 * statistics.quantiles(self.latencies, n=100)[percent - 1]


@dataclass(frozen=True, slots=True)
class Bare:
    """Bare scorers: answers a second of all together, and processor time an answer."""

    rate: float
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Bench:
    """Where all is measured: the broker, its process, a folder, and the number of scoring processes."""

    servers: str
    broker: int
    folder: Path
    scorers: int

    def scene(self, **more: str) -> Scene:
        """Make a scene; documents come inline, so that nothing is searched for."""
        settings = {"SCORING__PROCESSES": str(self.scorers), "RETRIEVAL__EMBEDDER": "none", **more}
        return Scene(self.servers, self.folder, settings)

    async def judged(
        self, checkout: Checkout, batch: Sequence[Sent], span: Span, late: Sequence[Sent]
    ) -> Judged:
        """Let a worker judge: ``batch`` under full load, then ``late`` at half of what it reached."""
        scene = self.scene()
        await _prepare(checkout, scene, batch)
        with worker(checkout, scene) as pid:
            async with watching(scene) as watch:
                full = await self._passed(watch, pid, span)
                await watch.reached(len(batch))
                size = memory(pid, self.scorers)
                latencies = await watch.latencies(publish(scene, late, full.rate / 2), len(late))
        return Judged(full, list(latencies.values()), size)

    async def timed(
        self, checkout: Checkout, scene: Scene, batch: Sequence[Sent], late: Sequence[Sent], per_second: float
    ) -> dict[bytes, float]:
        """Give the seconds to the verdicts on ``late``, by key, at a rate, after ``batch`` to get warm."""
        await _prepare(checkout, scene, batch)
        with worker(checkout, scene):
            async with watching(scene) as watch:
                await watch.reached(len(batch))
                return await watch.latencies(publish(scene, late, per_second), len(late))

    async def passed(
        self, checkout: Checkout, scene: Scene, batch: Sequence[Sent], span: Span, headers: Headers = list
    ) -> Passed:
        """Let a worker pass answers under full load."""
        await _prepare(checkout, scene, batch, headers)
        with worker(checkout, scene) as pid:
            async with watching(scene) as watch:
                return await self._passed(watch, pid, span)

    async def looped(self, checkout: Checkout, mode: str, batch: Sequence[Sent], span: Span) -> Passed:
        """Let a bare loop pass answers on; see ``bare_loop.py`` for its modes."""
        scene = self.scene()
        await _prepare(checkout, scene, batch)
        command = checkout.program("bare_loop.py", mode, scene.servers, scene.answers, scene.verdicts[0])
        with running(command, scene.environment(), self.folder / "bare.log") as process:
            async with watching(scene) as watch:
                return await self._passed(watch, process.pid, span)

    def bare(self, checkout: Checkout, batch: Sequence[ChatbotAnswer], span: Span) -> Bare:
        """Let bare scorers judge, as many as a worker has."""
        path = self.folder / "exchanges.jsonl"
        path.write_text("".join(map(_line, batch)), "utf-8")
        command = checkout.program("bare_scorers.py", str(self.scorers), str(span.warm), str(path))
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        return Bare(**json.loads(done.stdout))

    async def _passed(self, watch: Watch, pid: int, span: Span) -> Passed:
        first = await watch.reached(span.warm)
        before = usage(pid, self.broker)
        last = await watch.reached(span.warm + span.events)
        return Passed(last - first, usage(pid, self.broker) - before)


def main_process(used: Usage) -> float:
    """Give the processor time of a worker's main process."""
    return used.user + used.system


def worker_processes(used: Usage) -> float:
    """Give the processor time of a worker, its scoring processes and all."""
    return main_process(used) + used.children


def encoded(batch: Sequence[ChatbotAnswer]) -> list[Sent]:
    """Give answers as they are published, keyed by conversation."""
    codec = Codec()
    return [Sent(one.conversation_id.encode(), codec.encode(one)) for one in batch]


async def _prepare(checkout: Checkout, scene: Scene, batch: Sequence[Sent], headers: Headers = list) -> None:
    create_topics(checkout, scene)
    await publish(scene, batch, headers=headers)


def _line(answer: ChatbotAnswer) -> str:
    event = {
        "question": answer.question,
        "answer": answer.answer,
        "language": answer.language,
        "context": [(one.document_id, one.text, one.title) for one in answer.context],
    }
    return json.dumps(event) + "\n"
