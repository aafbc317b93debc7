"""What judging an answer costs, beside what spaCy alone takes to parse it.

Run as ``python -m tests.benchmarks.scoring [--events N] [--runs N] [--language en|nl] [--verifier FOLDER]
[--json]``. The events are the answers of the sample that both profiles score, drawn so that documents repeat
as at a help desk (Zipf). With a verifier, what it adds is measured too, without its time limit.
All times are processor time of one process, one measurement after the other in each run; what counts are
the ratios within a run, as medians over the runs.
"""

import argparse
import itertools
import json
import multiprocessing
import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import psutil
from rich.console import Console

from scoring import Exchange, Passage, Scorer, ScorerOptions
from scoring.text.parsing import default_parser
from streams.cli.demo.sample import sample_answers, sample_documents

Language = Literal["en", "nl"]

_UNLIMITED = 1e9
_NO_CACHE = ScorerOptions(cached_characters=0)
_DOCUMENT_COUNTS = (1, 2, 4, 8)
_CONTEXT_WORDS = (500, 1_000, 2_000, 4_000, 8_000)
_ANSWER_WORDS = (50, 100, 200, 400, 800)
_REPEATS = 5
_MEGABYTE = 2**20
_CONSOLE = Console(highlight=False, markup=False, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Costs:
    """Milliseconds of processor time an event, in one run."""

    spacy: float
    warm: float
    warm_paper: float
    cold: float
    everything: float
    warm_verified: float | None = None

    @property
    def milliseconds(self) -> dict[str, float]:
        """What was measured."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def ratios(self) -> dict[str, float]:
        """What the run is about, whatever the machine."""
        verified = (
            {}
            if self.warm_verified is None
            else {"with a verifier / without, warm": self.warm_verified / self.warm}
        )
        return {
            "spaCy on the answers / scoring, warm": self.spacy / self.warm,
            "spaCy on the answers / scoring, cold": self.spacy / self.cold,
            "parsing everything each time / scoring, warm": self.everything / self.warm,
            "profile paper / profile truthgate, warm": self.warm_paper / self.warm,
            **verified,
        }


def scored_exchanges(language: Language) -> list[Exchange]:
    """Give the sample's answers that both profiles score, with their documents."""
    texts = {document.document_id: document for document in sample_documents(language)}
    scorer = Scorer("paper")
    exchanges = [
        Exchange(
            answer.question,
            answer.answer,
            tuple(Passage(i, texts[i].text, texts[i].title) for i in answer.document_ids),
            language,
        )
        for answer in sample_answers(language)
    ]
    return [exchange for exchange in exchanges if scorer.score(exchange).score is not None]


def repeated(exchanges: Sequence[Exchange], events: int, seed: int) -> list[Exchange]:
    """Draw events so that the n-th most popular first document comes 1/n as often as the first."""
    chance = random.Random(seed)
    documents = sorted({exchange.context[0].document_id for exchange in exchanges})
    chance.shuffle(documents)
    rank = {document: number for number, document in enumerate(documents, 1)}
    weights = [1 / rank[exchange.context[0].document_id] for exchange in exchanges]
    return chance.choices(exchanges, weights, k=events)


def measure(events: Sequence[Exchange], language: Language, verifier: Path | None) -> Costs:
    """Measure one run: every way on the same events."""
    nlp = default_parser().load(language)
    scorer, paper, fresh, forgetful = Scorer(), Scorer("paper"), Scorer(), Scorer(options=_NO_CACHE)
    asking = Scorer(options=ScorerOptions(verifier=verifier, verifier_seconds=_UNLIMITED))
    for exchange in events:
        for each in (scorer, paper, asking):
            each.score(exchange)
    few = events[: max(len(events) // 4, 1)]
    return Costs(
        spacy=_milliseconds(lambda event: nlp(event.answer), events),
        warm=_milliseconds(scorer.score, events),
        warm_paper=_milliseconds(paper.score, events),
        cold=_milliseconds(fresh.score, events),
        everything=_milliseconds(forgetful.score, few),
        warm_verified=_milliseconds(asking.score, events) if verifier else None,
    )


def growth(exchanges: Sequence[Exchange], language: Language) -> dict[str, dict[str, tuple[float, float]]]:
    """Give (warm, cold) milliseconds by number of documents, words of context and words of the answer."""
    passages = [Passage(d.document_id, d.text, d.title) for d in sample_documents(language)]
    base = exchanges[0]
    running = " ".join(passage.text.replace("\n", "\n ") for passage in passages).split(" ")
    answers = "\n".join(exchange.answer for exchange in exchanges).split(" ")
    by_count = {f"{n} documents": replace(base, context=tuple(passages[:n])) for n in _DOCUMENT_COUNTS}
    by_words = {f"{n:,} words": replace(base, context=(_of_words(running, n),)) for n in _CONTEXT_WORDS}
    by_answer = {f"{n} words": replace(base, answer=_joined(answers, n)) for n in _ANSWER_WORDS}
    groups = {"context, documents": by_count, "context, length": by_words, "answer, length": by_answer}
    warm, cold = Scorer(), Scorer(options=_NO_CACHE)
    return {
        name: {row: _warm_and_cold(event, warm, cold) for row, event in rows.items()}
        for name, rows in groups.items()
    }


def memory(exchanges: Sequence[Exchange]) -> dict[str, float]:
    """Give the megabytes of a scoring process, forked from a server as the worker does it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["scoring", "scoring.scorer.preload.pipelines"])
    with context.Pool(2) as pool:
        sizes = pool.map(_memory_after, [exchanges, exchanges], chunksize=1)
    return {name: statistics.mean(size[name] for size in sizes) for name in sizes[0]}


def _memory_after(exchanges: Sequence[Exchange]) -> dict[str, float]:
    scorer, process = Scorer(), psutil.Process()
    started = process.memory_full_info()
    for exchange in exchanges:
        scorer.score(exchange)
    judged = process.memory_full_info()
    return {
        "resident, started": started.rss / _MEGABYTE,
        "its own, started": started.uss / _MEGABYTE,
        "resident, warm": judged.rss / _MEGABYTE,
        "its own, warm": judged.uss / _MEGABYTE,
    }


def _milliseconds(act: Callable[[Exchange], object], events: Iterable[Exchange]) -> float:
    count, began = 0, time.process_time()
    for event in events:
        act(event)
        count += 1
    return (time.process_time() - began) * 1_000 / count


def _warm_and_cold(event: Exchange, warm: Scorer, cold: Scorer) -> tuple[float, float]:
    warm.score(event)
    events = [event] * _REPEATS
    return _milliseconds(warm.score, events), _milliseconds(cold.score, events[:2])


def _of_words(words: Sequence[str], count: int) -> Passage:
    return Passage("long", _joined(words, count))


def _joined(words: Sequence[str], count: int) -> str:
    return " ".join(itertools.islice(itertools.cycle(words), count))


def _print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    lines = [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]
    _CONSOLE.print(f"\n### {title}\n", *lines, sep="\n")


def _print_costs(runs: Sequence[Costs]) -> None:
    costs = {name: [run.milliseconds[name] for run in runs] for name in runs[0].milliseconds}
    rows = [
        (name, f"{statistics.median(values):.1f}", f"{1_000 / statistics.median(values):.0f}")
        for name, values in costs.items()
    ]
    _print_table("Cost of an answer", ("", "ms", "answers a second and core"), rows)
    ratios = {name: [run.ratios[name] for run in runs] for name in runs[0].ratios}
    rows = [
        (name, f"{statistics.median(values):.2f}", f"{min(values):.2f} to {max(values):.2f}")
        for name, values in ratios.items()
    ]
    _print_table("Ratios", ("", "median", "range"), rows)


def _print_growth(groups: Mapping[str, Mapping[str, tuple[float, float]]]) -> None:
    for name, rows in groups.items():
        first_warm, first_cold = next(iter(rows.values()))
        table = [
            (row, f"{warm:.1f}", f"{warm / first_warm:.2f}", f"{cold:.1f}", f"{cold / first_cold:.2f}")
            for row, (warm, cold) in rows.items()
        ]
        _print_table(f"Growth: {name}", ("", "ms warm", "ratio", "ms cold", "ratio"), table)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--language", choices=get_args(Language), default="en")
    parser.add_argument(
        "--verifier", type=Path, help="the folder of a model that is asked about claims in doubt"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown tables")
    options = parser.parse_args()
    exchanges = scored_exchanges(options.language)
    runs = [
        measure(repeated(exchanges, options.events, seed), options.language, options.verifier)
        for seed in range(options.runs)
    ]
    grown, sizes = growth(exchanges, options.language), memory(exchanges)
    if options.json:
        _CONSOLE.print_json(
            json.dumps({"runs": [r.milliseconds | r.ratios for r in runs], "growth": grown, "memory": sizes})
        )
        return
    _print_costs(runs)
    _print_growth(grown)
    _print_table("Memory of a process", ("", "MB"), [(n, f"{size:.0f}") for n, size in sizes.items()])


if __name__ == "__main__":
    main()
