"""Scorers in bare processes, with nothing around them: what a worker with as many could judge at most.

Run as ``python -P bare_scorers.py PROCESSES WARM FILE``. Each line of the file is a JSON object with
``question``, ``answer``, ``language`` and ``context`` (triples of id, text and title); each process takes
its share of them, ``WARM`` of all before the time begins to count. Prints a JSON object: ``rate``, answers
a second of all together, and ``milliseconds``, processor time an answer.

This file alone uses the scorer as a library, so that it alone changes with it.
"""

import json
import multiprocessing
import sys
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from scoring import Exchange, Passage, Scorer

_START_SECONDS = 300.0
_barrier: Barrier


def main() -> None:
    """Measure and print."""
    processes, warm, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(processes)
    with context.Pool(processes, _remember, (barrier,)) as pool:
        shares = [(number, processes, warm, path) for number in range(processes)]
        results = pool.map(_judge, shares, chunksize=1)
    judged, processor = (sum(values) for values in zip(*((n, cpu) for n, _, cpu in results), strict=True))
    rate = sum(count / seconds for count, seconds, _ in results)
    sys.stdout.write(json.dumps({"rate": rate, "milliseconds": 1000 * processor / judged}) + "\n")


def _remember(barrier: Barrier) -> None:
    global _barrier  # noqa: PLW0603 - a barrier can be given to a process only when it starts
    _barrier = barrier


def _judge(share: tuple[int, int, int, str]) -> tuple[int, float, float]:
    number, processes, warm, path = share
    events = [_exchange(json.loads(line)) for line in Path(path).read_text("utf-8").splitlines()]
    scorer = Scorer()
    for event in events[number:warm:processes]:
        scorer.score(event)
    own = events[warm + number :: processes]
    _barrier.wait(_START_SECONDS)
    began, used = time.perf_counter(), time.process_time()
    for event in own:
        scorer.score(event)
    return len(own), time.perf_counter() - began, time.process_time() - used


def _exchange(event: dict[str, Any]) -> Exchange:
    context = tuple(Passage(*passage) for passage in event["context"])
    return Exchange(event["question"], event["answer"], context, event["language"])


if __name__ == "__main__":
    main()
