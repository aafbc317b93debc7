"""The verdicts on the whole sample, whole; every supported Python must come to the same ones.

``python -m tests.support.sample_verdicts`` writes them anew, after a change that is meant to change them, and
says what it changed: answer by answer, feature by feature and claim by claim.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.commands import truthgate_here
from tests.support.libretranslate import LibreTranslate
from tests.support.parallel_texts import ParallelTexts

EXPECTED = Path(__file__).with_suffix(".jsonl.gz")
_SAMPLE = Path(str(files("streams") / "sample"))
_ABSENT = "absent"

Verdict = dict[str, Any]


def found() -> list[Verdict]:
    """Judge the sample as it comes, and the Dutch one translated first."""
    return [{"way": way} | _rounded(verdict) for way in ("nl", "en", "nl-en") for verdict in _judged(way)]


def expected() -> list[Verdict]:
    """Give the verdicts as they were written."""
    return [json.loads(line) for line in gzip.decompress(EXPECTED.read_bytes()).splitlines()]


def changes(before: list[Verdict], now: list[Verdict]) -> list[str]:
    """Say of each value that differs where it is, what it was and what it is."""
    old, new = (
        {path: value for each in every for path, value in _values(_key(each), each)}
        for every in (before, now)
    )
    told = ((path, old.get(path, _ABSENT), new.get(path, _ABSENT)) for path in {**old, **new})
    return [f"{path}: {was!r} → {is_!r}" for path, was, is_ in told if was != is_]


def _key(verdict: Verdict) -> str:
    return f"{verdict['way']} {verdict['answer_id']}"


def _values(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not value or not isinstance(value, dict | list):
        yield path, value
        return
    items = (
        value.items() if isinstance(value, dict) else ((_name(n, each), each) for n, each in enumerate(value))
    )
    for name, each in items:
        yield from _values(f"{path}.{name}", each)


def _name(number: int, value: Any) -> str | int:
    """Give what an element of a list is told by: features have names, and may be more or fewer one day."""
    return value.get("name", number) if isinstance(value, dict) else number


def _rounded(verdict: Verdict) -> Verdict:
    """Leave out what differs from run to run and from release to release."""
    lasting = {name: each for name, each in verdict.items() if name not in ("scored_at", "scorer_version")}
    return json.loads(json.dumps(lasting), parse_float=lambda number: round(float(number), 4))


def _judged(way: str) -> Iterator[Verdict]:
    """Yield the verdicts on the sample in one language, or translated where ``way`` names a second one."""
    language, _, translated = way.partition("-")
    with TemporaryDirectory() as folder, LibreTranslate(ParallelTexts.of_sample()) as server:
        answers = Path(folder) / "answers.jsonl"
        answers.write_text("".join(_text(name, language) for name in ("answers", "guides")), "utf-8")
        documents = _SAMPLE / f"documents.{language}.jsonl"
        mode = ("--translate", "auto") if translated else ()
        done = truthgate_here(
            "score", answers, "--documents", documents, *mode, environment=_environment(server, Path(folder))
        )
    if done.returncode:
        raise RuntimeError(done.stderr)
    yield from map(json.loads, done.stdout.splitlines())


def _text(name: str, language: str) -> str:
    return (_SAMPLE / f"{name}.{language}.jsonl").read_text("utf-8")


def _environment(server: LibreTranslate, folder: Path) -> dict[str, str]:
    return {
        "TRUTHGATE_TRANSLATION__PROVIDER": "libretranslate",
        "TRUTHGATE_TRANSLATION__BASE_URL": server.url,
        "TRUTHGATE_DOCUMENTS__STORE": str(folder / "store"),
        "TRUTHGATE_SCORING__TIMEOUT_SECONDS": "60",  # none is slow: a busy machine is
    }


def main() -> None:
    """Write what is expected from now on, and say what is other than before."""
    now = found()
    sys.stdout.writelines(f"{line}\n" for line in changes(expected() if EXPECTED.exists() else [], now))
    text = "".join(f"{json.dumps(each, ensure_ascii=False, separators=(',', ':'))}\n" for each in now)
    EXPECTED.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
