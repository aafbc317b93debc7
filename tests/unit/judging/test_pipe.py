"""The pipe to a scoring process: each answer gets its own outcome, whatever becomes of the others."""

import asyncio
import os
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import pytest

from scoring.values.exchange import Exchange, MessageType
from scoring.values.scored_answer import ScoredAnswer
from streams.scorers.pipe import PipeClosed, ScoringPipe
from streams.scorers.scoring_process import BatchParsed, BatchStarted, ScoringRequest
from tests.support.records import eventually


class Far:
    """The far end, which answers in a thread when it is told to; what it is killed for ends the pipe."""

    def __init__(self, end: Connection) -> None:
        self.end = end
        self.goes_on = threading.Event()
        self._socket = socket.socket(fileno=os.dup(end.fileno()))
        self.kills = 0
        self._once = False

    def serve(self) -> None:
        try:
            while True:
                request = self.end.recv()
                self.goes_on.wait(10)
                if self._once:
                    self._once = False
                    self.goes_on.clear()
                self.end.send(outcome_of(request))
        except (EOFError, OSError):
            return

    def answer_one(self) -> None:
        """Answer what is in work, and hang at what follows."""
        self._once = True
        self.goes_on.set()

    def kill(self) -> None:
        self.kills += 1
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self.goes_on.set()  # after the pipe's end: what is killed answers nothing any more

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def outcome_of(request: ScoringRequest) -> ScoredAnswer:
    return ScoredAnswer(1.0, MessageType.BINARY, None, profile=request.exchange.question)


def asked(name: str) -> ScoringRequest:
    return ScoringRequest(Exchange(name, ""), ())


@contextmanager
def served(far: Far) -> Iterator[None]:
    thread = threading.Thread(target=far.serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        far.goes_on.set()
        far.close()
        thread.join(10)
        far.end.close()


@asynccontextmanager
async def opened(limit: float = 30) -> AsyncIterator[tuple[ScoringPipe, Far, list[bool]]]:
    near, end = Pipe()
    far, lost = Far(end), list[bool]()
    pipe = ScoringPipe(limit, far.kill, lost.append)
    with served(far):
        await pipe.open(near)
        yield pipe, far, lost
        pipe.close()
        await asyncio.sleep(0)


async def test_an_exchange_that_cannot_be_sent_takes_nobodys_place():
    unsendable = ScoringRequest(Exchange("?", "", (lambda: None,)), ())  # type: ignore[arg-type]
    left: list[str] = []
    async with opened() as (pipe, far, _):
        first = asyncio.create_task(pipe.score(asked("one"), lambda: left.append("one")))
        await asyncio.sleep(0)
        with pytest.raises((AttributeError, TypeError, Exception), match="lambda"):
            await pipe.score(unsendable, lambda: left.append("unsendable"))
        second = asyncio.create_task(pipe.score(asked("two"), lambda: left.append("two")))
        await asyncio.sleep(0)
        far.goes_on.set()
        outcomes = await asyncio.gather(first, second)
    assert outcomes == [outcome_of(asked("one")), outcome_of(asked("two"))]
    assert left == ["unsendable", "one", "two"]


async def test_what_nobody_waits_for_any_more_keeps_its_place_until_the_process_is_done_with_it():
    left: list[str] = []
    async with opened() as (pipe, far, _):
        first = asyncio.create_task(pipe.score(asked("one"), lambda: left.append("one")))
        given_up = asyncio.create_task(pipe.score(asked("two"), lambda: left.append("two")))
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.wait([given_up])
        assert left == []
        third = asyncio.create_task(pipe.score(asked("three"), lambda: left.append("three")))
        await asyncio.sleep(0)
        far.goes_on.set()
        assert await asyncio.gather(first, third) == [outcome_of(asked("one")), outcome_of(asked("three"))]
        assert (left, far.kills) == (["one", "two", "three"], 0)


async def test_only_the_one_in_work_is_to_blame_for_the_end_and_none_for_a_kill():
    left: list[str] = []
    async with opened(limit=0.1) as (pipe, _, lost):
        overdue = asyncio.create_task(pipe.score(asked("one"), lambda: left.append("one")))
        behind = asyncio.create_task(pipe.score(asked("two"), lambda: left.append("two")))
        with pytest.raises(TimeoutError):
            await overdue
        with pytest.raises(PipeClosed) as closed:
            await behind
        assert not closed.value.was_started
        assert (left, lost) == (["one", "two"], [True])
        with pytest.raises(PipeClosed):
            await pipe.score(asked("three"), lambda: left.append("three"))
    assert left == ["one", "two", "three"]


async def test_an_answer_that_waited_in_the_pipe_has_the_whole_time_limit_from_its_turn_on():
    async with opened(limit=0.2) as (pipe, far, _):
        first = asyncio.create_task(pipe.score(asked("one"), lambda: None))
        hanging = asyncio.create_task(pipe.score(asked("two"), lambda: None))
        await asyncio.sleep(0)
        far.answer_one()
        assert await first == outcome_of(asked("one"))
        with pytest.raises(TimeoutError):
            await hanging
        assert far.kills == 1


async def test_a_process_that_dies_in_mid_work_is_the_doing_of_its_first_answer():
    async with opened() as (pipe, far, _):
        first = asyncio.create_task(pipe.score(asked("one"), lambda: None))
        second = asyncio.create_task(pipe.score(asked("two"), lambda: None))
        await asyncio.sleep(0)
        far.kill()
        ends = await asyncio.gather(first, second, return_exceptions=True)
    assert [isinstance(end, PipeClosed) and end.was_started for end in ends] == [True, False]


@pytest.mark.parametrize("end", ["killed", "overdue"])
async def test_a_process_that_ends_while_it_parses_a_batch_is_the_doing_of_none_of_it(end):
    async with opened(limit=30 if end == "killed" else 0.2) as (pipe, far, _):
        asked_for = [pipe.score(asked(name), lambda: None) for name in ("one", "two", "three")]
        work = [asyncio.create_task(each) for each in asked_for]
        await asyncio.sleep(0)
        far.end.send(BatchStarted(2))
        await eventually(lambda: pipe.batched == 2, "the pipe knows of the batch")
        if end == "killed":
            far.kill()
        ends = await asyncio.gather(*work, return_exceptions=True)
    assert [isinstance(end, PipeClosed) and (end.was_started, end.in_batch) for end in ends] == [
        (False, True),
        (False, True),
        (False, False),
    ]


async def test_after_the_parse_of_a_batch_its_first_answer_is_to_blame_again():
    async with opened() as (pipe, far, _):
        work = [asyncio.create_task(pipe.score(asked(name), lambda: None)) for name in ("one", "two")]
        await asyncio.sleep(0)
        far.end.send(BatchStarted(2))
        await eventually(lambda: pipe.batched == 2, "the pipe knows of the batch")
        far.end.send(BatchParsed())
        await eventually(lambda: pipe.batched == 0, "the pipe knows of its end")
        far.kill()
        ends = await asyncio.gather(*work, return_exceptions=True)
    assert [isinstance(end, PipeClosed) and (end.was_started, end.in_batch) for end in ends] == [
        (True, False),
        (False, False),
    ]


async def test_what_is_no_message_ends_the_process_and_its_answers():
    seen: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context["message"]))
    async with opened() as (pipe, far, _):
        waiting = asyncio.create_task(pipe.score(asked("one"), lambda: None))
        await asyncio.sleep(0)
        far.end.send_bytes(b"nonsense")
        with pytest.raises(PipeClosed):
            await waiting
        assert far.kills == 1
    assert seen
