"""The tutorial, typed as its page shows it, on the demo's Kafka: what is printed is what the page says.

Times may differ; addresses and ports of the page are replaced by those that are free here.
"""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streams.embedded.jars import HOME_VARIABLE, kafka_home
from tests.support.commands import clean_environment
from tests.support.site import Block, blocks_of, command_lines, text_of

PAGE = "docs/tutorial.md"
ROOT = Path(__file__).parents[2]
_SECONDS = 180.0
_TIMES = re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d\d:\d\d:\d\d\b")


class Terminal:
    """A terminal of the reader's: what is exported in it stays, and all is typed in the reader's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._exports = ""
        # Of this machine's caches the jars of Kafka alone, which are not downloaded again.
        own = {"XDG_CACHE_HOME": str(folder / "cache"), HOME_VARIABLE: str(kafka_home().parent)}
        self._environment = clean_environment({**own, "TRUTHGATE_WEB__PORT": "0"})

    def type(self, text: str) -> str:
        """Run a block to its end and give what it printed; AssertionError where it fails."""
        with self._started(text, self._folder / "printed") as command:
            code = command.wait(_SECONDS)
        printed = (self._folder / "printed").read_text("utf-8")
        assert code == 0, f"{text}\n{printed}"
        exports = [line for line in command_lines(text) if line.startswith("export ")]
        self._exports += "".join(f"{line}\n" for line in exports)
        return printed

    @contextmanager
    def running(self, text: str, prompt: str) -> Iterator[re.Match[str]]:
        """Run a command from when it printed the prompt until the end of the block; then Ctrl-C ends it."""
        log = self._folder / f"{text.split()[1]}.log"
        with self._started(f"exec {text}", log) as command:
            end = time.monotonic() + _SECONDS
            while not (found := re.search(prompt, log.read_text("utf-8"))):
                assert command.poll() is None, log.read_text("utf-8")
                assert time.monotonic() < end, log.read_text("utf-8")
                time.sleep(0.1)
            yield found
            command.send_signal(signal.SIGINT)
            assert command.wait(_SECONDS) in {0, 130}, log.read_text("utf-8")

    @contextmanager
    def _started(self, text: str, output: Path) -> Iterator[subprocess.Popen[bytes]]:
        script = ["bash", "-euo", "pipefail", "-c", f"{self._exports}{text}"]
        with (
            output.open("wb") as shown,
            subprocess.Popen(
                script,
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=shown,
                stderr=subprocess.STDOUT,
            ) as command,
        ):
            try:
                yield command
            finally:
                command.kill()


class Page:
    """The blocks of the page, each read once and in its order."""

    def __init__(self) -> None:
        self._blocks = blocks_of(PAGE)

    def next(self, language: str) -> str:
        """Give the text of the next block, which is in that language."""
        block: Block = self._blocks.pop(0)
        assert block.language == language, block
        return block.text

    def assert_printed(self, printed: str) -> None:
        """Assert that what the page shows next is in what was printed, times aside."""
        assert _comparable(self.next("text")) in _comparable(printed)

    def assert_read(self) -> None:
        """Assert that nothing is left of it."""
        assert self._blocks == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make the reader's folder, with the commands where `make` installs them."""
    (commands := tmp_path / ".venv" / "bin").mkdir(parents=True)
    (truthgate := commands / "truthgate").write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m streams.cli "$@"\n', "utf-8"
    )
    truthgate.chmod(0o755)
    return tmp_path


@pytest.mark.timeout(900)
def test_the_tutorial_goes_as_its_page_says(folder):
    page, first, second, third = Page(), Terminal(folder), Terminal(folder), Terminal(folder)

    assert page.next("sh") == "make demo\n"
    assert re.search(r"^demo: install .*\n\t\$\(BIN\)/truthgate demo$", text_of("Makefile"), re.MULTILINE)
    in_a_hurry = ".venv/bin/truthgate demo --rate 0"
    page.assert_printed(first.type(in_a_hurry))

    first.type(page.next("sh"))
    (folder / "help").mkdir()
    (folder / "help" / "invoices.md").write_text(page.next("markdown"), "utf-8")
    (folder / "answers.jsonl").write_text(page.next("json"), "utf-8")
    page.assert_printed(first.type(page.next("sh")))

    with first.running(page.next("sh").strip(), r"Kafka runs at (127\.0\.0\.1:\d+)") as demo:
        own = re.sub(r"(?<=SERVERS=)\S+", demo[1], page.next("sh")).replace("PORT=6071", "PORT=0")
        assert demo[1] in own
        page.assert_printed(second.type(own))
        third.type("\n".join(line for line in command_lines(own) if line.startswith("export ")))

        with second.running(page.next("sh").strip(), "worker_ready"):
            assert re.match(f"{_TIMES.pattern}  review ", third.type(page.next("sh")))

            judged = third.type(page.next("sh"))
            page.assert_printed(judged)
            assert _ids(judged) >= {"a-1", "a-2", "a-3"}
            assert len(_lines(judged)) == 4

            paused = third.type(page.next("sh"))
            assert len(_lines(paused)) == 7
            assert "sending paused, verbatim document" in paused
            repeated = [line for line in _lines(paused) if " a-1 " in line]
            assert sorted(line.split()[1] for line in repeated) == ["auto", "review"]
            verdicts = third.type("truthgate tail --from-beginning --limit 7 --json 2>/dev/null")
            read = map(json.loads, verdicts.splitlines())
            ids = [one["verdict_id"] for one in read if one["answer_id"] == "a-1"]
            assert ids == [ids[0]] * 2

            third.type(page.next("sh"))

        elsewhere = page.next("sh").replace("kafka-1:9092,kafka-2:9092", demo[1])
        assert demo[1] in elsewhere
        third.type(elsewhere)
    page.assert_read()


def _comparable(text: str) -> str:
    """Give a text without its times, and without spaces at the ends of lines."""
    return re.sub(r" +$", "", _TIMES.sub("?", text), flags=re.MULTILINE)


def _lines(printed: str) -> list[str]:
    """Give the lines of verdicts, without those of their claims."""
    return [line for line in printed.splitlines() if _TIMES.match(line)]


def _ids(printed: str) -> set[str]:
    return {word for line in _lines(printed) for word in line.split()}
