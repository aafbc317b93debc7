"""The verdicts on the whole sample, one line each; every supported Python must come to the same ones.

``python -m tests.support.sample_verdicts`` writes them anew, after a change that is meant to change them:
what it changed is then seen answer by answer and feature by feature.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.commands import truthgate_here
from tests.support.libretranslate import LibreTranslate
from tests.support.parallel_texts import ParallelTexts

EXPECTED = Path(__file__).with_suffix(".tsv")
_SAMPLE = Path(str(files("streams") / "sample"))
_COLUMNS = ("way", "answer", "decision", "score", "message_type", "reasons", "degraded")


def table() -> list[str]:
    """Judge the sample as it comes, and the Dutch one translated first; give a heading and their lines."""
    verdicts = [(way, verdict) for way in ("nl", "en", "nl-en") for verdict in _judged(way)]
    features = list(dict.fromkeys(each["name"] for _, verdict in verdicts for each in verdict["features"]))
    return ["\t".join((*_COLUMNS, *features)), *(_line(way, verdict, features) for way, verdict in verdicts)]


def _judged(way: str) -> Iterator[dict[str, Any]]:
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
        "TRUTHGATE_TRANSLATION__CACHE": str(folder / "translations.sqlite3"),
    }


def _line(way: str, verdict: Mapping[str, Any], features: list[str]) -> str:
    reasons, degraded = (" ".join(verdict[name]) for name in ("reasons", "degraded"))
    found = {each["name"]: _feature(each) for each in verdict["features"]}
    about = (
        way,
        verdict["answer_id"],
        verdict["decision"],
        _number(verdict["score"]),
        verdict["message_type"],
    )
    return "\t".join((*about, reasons, degraded, *(found.get(name, "") for name in features)))


def _feature(feature: Mapping[str, Any]) -> str:
    evidence = json.dumps(feature["evidence"], sort_keys=True)
    digest = hashlib.sha256(evidence.encode()).hexdigest()[:4] if feature["evidence"] else ""
    return f"{_number(feature['value'])} {digest}".rstrip()


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def main() -> None:
    """Write what is expected from now on."""
    EXPECTED.write_text("".join(f"{line}\n" for line in table()), "utf-8")


if __name__ == "__main__":
    main()
