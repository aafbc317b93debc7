"""What a start saves whose scoring processes find their documents parsed in the file of the last one.

Run as ``python -m tests.benchmarks.prepared [--documents N] [--events N] [--runs N] [--language en|nl]``. The
documents are those of the sample, varied to as many as asked for; the file holds all of them, and an answer
rests on one. Times are processor time, but for opening the file; what counts are the ratios.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from itertools import count, cycle, islice
from pathlib import Path
from typing import TypeVar, get_args

from rich.console import Console

from scoring import Exchange, Passage, Scorer, ScorerOptions
from scoring.cache.cache_file import PARSE_CACHE_ID, CacheFile
from scoring.lexicon import Lexicon, load_shipped
from scoring.text.parsing import LazyParse, Parse, ParseCache, default_parser
from streams.cli.demo.sample import sample_documents
from tests.benchmarks.scoring import Language, scored_exchanges

_MIB = 100_000
_BATCH = 500
_CONSOLE = Console(highlight=False, markup=False, soft_wrap=True)

T = TypeVar("T")
Row = tuple[str, float, str]


def varied(language: Language) -> Iterator[tuple[str, str]]:
    """Yield (the sample's text, a text like it that no other is), without end."""
    texts = [f"{document.title}\n\n{document.text}" for document in sample_documents(language)]
    for number in count():
        text = texts[number % len(texts)]
        yield text, f"{text}\n\n{number}"


def fill(path: Path, language: Language, documents: int) -> list[str]:
    """Write a file with the parses of so many documents, each as large as those of the sample."""
    lexicon, parser = load_shipped()[language], default_parser()
    # To parse each would take half an hour, and tell nothing more.
    parse = cache(lambda original: parser.parse_all([original], lexicon)[0])
    texts = list(islice(varied(language), documents))
    with closing(CacheFile(path, PARSE_CACHE_ID, _MIB)) as file:
        kept = ParseCache(file, parser)
        for start in range(0, len(texts), _BATCH):
            kept.put([_made(text, lexicon, parse(original)) for original, text in texts[start:][:_BATCH]])
    return [text for _, text in texts]


def _made(text: str, lexicon: Lexicon, parse: Parse) -> LazyParse:
    lazy = LazyParse(text, lexicon, default_parser())
    lazy.parse = parse
    return lazy


def documents(path: Path, lexicon: Lexicon, texts: Sequence[str]) -> Iterator[Row]:
    """Measure one document: opening the file, parsing, finding its parse in the file."""
    began = time.perf_counter()
    with closing(CacheFile(path, PARSE_CACHE_ID, _MIB)) as file:
        yield "opening the file", (time.perf_counter() - began) * 1_000, ""
        kept, parser = ParseCache(file, default_parser()), default_parser()
        kept.load_fingerprints([lexicon.language])
        parse = _milliseconds(lambda text: parser.parse_all([text], lexicon), texts)
        found = _milliseconds(lambda text: _found(kept, LazyParse(text, lexicon, parser)), texts)
    yield "a document: parsing it", parse, ""
    yield "a document: its parse from the file", found, f"{parse / found:.0f} times faster"


def _found(kept: ParseCache, lazy: LazyParse) -> None:
    if not kept.restore(lazy):
        raise RuntimeError("a document is not in the file")


def answers(path: Path, language: Language, texts: Sequence[str]) -> Iterator[Row]:
    """Measure an answer whose document no process has, only the file has, and this process has."""
    exchanges = scored_exchanges(language)
    events = [
        Exchange(exchange.question, exchange.answer, (Passage("d", text, version="1"),), language)
        for text, exchange in zip(texts, cycle(exchanges), strict=False)
    ]
    options = ScorerOptions(parse_cache=path, parse_cache_mib=_MIB)
    with closing(Scorer(options=options)) as restarted:
        cold = _milliseconds(Scorer().score, events)
        disk = _milliseconds(restarted.score, events)
        parsed = restarted.cache_use.misses
        memory = _milliseconds(restarted.score, events)
    yield "an answer: its document is nowhere", cold, ""
    yield (
        "an answer: its document is in the file",
        disk,
        f"{cold / disk:.1f} times faster, {parsed} of {len(events)} parsed",
    )
    yield "an answer: its document is in memory", memory, f"{cold / memory:.1f} times faster"


def _milliseconds(act: Callable[[T], object], items: Sequence[T]) -> float:
    began = time.process_time()
    for item in items:
        act(item)
    return (time.process_time() - began) * 1_000 / len(items)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--language", choices=get_args(Language), default="en")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prepared.sqlite3"
        texts = fill(path, options.language, options.documents)
        size, lexicon = path.stat().st_size, load_shipped()[options.language]
        runs = []
        for seed in range(options.runs):
            chosen = random.Random(seed).sample(texts, min(options.events, len(texts)))
            runs.append([*documents(path, lexicon, chosen), *answers(path, options.language, chosen)])
    _CONSOLE.print(f"{len(texts):,} documents, {size / 1e6:.0f} MB, {size / len(texts):,.0f} bytes each\n")
    _CONSOLE.print("| | median | in the last run |\n| --- | --- | --- |")
    for rows in zip(*runs, strict=True):
        median = statistics.median(value for _, value, _ in rows)
        _CONSOLE.print(f"| {rows[-1][0]} | {median:.2f} ms | {rows[-1][2]} |")


if __name__ == "__main__":
    main()
