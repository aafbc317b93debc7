"""The image as a cluster runs it: nothing to write on, no rights, and every answer gets its verdict."""

import asyncio
import json
import signal
import time
from pathlib import Path

import psutil
import pytest

from schemas import Codec
from streams.delivery.publisher import max_settling_seconds
from streams.kafka.topics import Topics
from streams.observability.failures import EXIT_UNREACHABLE
from streams.settings import Settings
from tests.support.chatbot import Chatbot
from tests.support.commands import truthgate
from tests.support.container_workers import HARDENED, ContainerWorker
from tests.support.documents import sample_documents
from tests.support.figures import Tell
from tests.support.image import Image
from tests.support.ledger import outgoing, read_until_settled, sample_answers
from tests.support.ports import NOBODY, hold_port, port_of
from tests.support.records import eventually, produce
from tests.support.retrieval import until_indexed, was_retrieved, with_retrieval, without_context
from tests.support.workers import changed

# The build is in it.
pytestmark = pytest.mark.timeout(1200)

MOST_MEGABYTES = 900
SAMPLE = Path(__file__).parents[3] / "streams" / "sample"

#: Prints which of these folders can be written to, whether it has any right, and who it is.
_RIGHTS = """
import json, os, pathlib, sys
def writable(folder):
    try:
        (pathlib.Path(folder) / "tried").touch()
    except OSError:
        return False
    return True
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({
    "writable": [each for each in sys.path + ["/", "/etc", "/usr", "/opt/truthgate", "/var/lib", "/run",
                 "/var/tmp", "/tmp", "/var/lib/truthgate"] if os.path.isdir(each) and writable(each)],
    "capabilities": [status[each].strip().strip("0") for each in ("CapPrm", "CapEff", "CapBnd")],
    "ids": [os.getuid(), os.getgid(), os.getgroups()],
    "first": pathlib.Path("/proc/1/comm").read_text().strip(),
}))
"""

#: Prints what could compile or install something, and what of the Python in it has no byte code.
_CONTENTS = """
import importlib.util, json, pathlib, shutil, stat
tools = ["cc", "gcc", "g++", "c++", "clang", "ld", "as", "make", "pip", "pip3", "uv", "python3-config"]
packages = pathlib.Path("/opt/truthgate/lib")
print(json.dumps({
    "tools": [tool for tool in tools if shutil.which(tool)],
    "modules": [name for name in ("pip", "ensurepip") if importlib.util.find_spec(name)],
    "uncompiled": [str(file) for file in packages.rglob("*.py")
                   if not pathlib.Path(importlib.util.cache_from_source(str(file))).exists()],
    "setuid": [str(file) for top in ("bin", "sbin", "lib") for file in pathlib.Path("/usr", top).rglob("*")
               if file.is_file() and file.stat().st_mode & (stat.S_ISUID | stat.S_ISGID)],
}))
"""


@pytest.fixture
def quick(settings: Settings, topics: Topics) -> Settings:
    """Give settings for a worker with one scoring process, whose successor takes over at once."""
    return changed(
        settings,
        kafka={"group_instance_id": "only"},
        flow={"session_timeout_seconds": 6},
        scoring={"processes": 1},
    )


@pytest.fixture
def bare(image: Image) -> list[str]:
    """Give the first arguments of a hardened container that reaches nobody."""
    return ["run", "--rm", "--interactive", "--network=none", *HARDENED]


def _tree(worker: ContainerWorker) -> list[psutil.Process]:
    """Give all processes of a worker's container, the first one first."""
    first = psutil.Process(worker.state["Pid"])
    return [first, *first.children(recursive=True)]


def _told(lines: str) -> list[dict]:
    """Give verdicts without when they were made."""
    return [{**json.loads(line), "scored_at": None} for line in lines.splitlines()]


def test_it_is_small_has_no_compiler_and_says_what_it_is(image: Image, bare: list[str], tell: Tell) -> None:
    tell(f"image: {image.megabytes:.0f} MB, built in {image.build_seconds:.0f} s")
    assert image.megabytes <= MOST_MEGABYTES
    found = image.containers.podman(*bare, "--entrypoint=python", image.id, "-c", _CONTENTS)
    assert json.loads(found.output) == {"tools": [], "modules": [], "uncompiled": [], "setuid": []}
    told = image.containers.podman(*bare, image.id, "--version").output.split()[1]
    configuration = image.containers.inspect("image", image.id)["Config"]
    assert configuration["Labels"]["org.opencontainers.image.version"] == told
    assert configuration["User"] == "65532:65532"


def test_it_scores_in_as_many_processes_as_it_may_use_processors(image: Image, bare: list[str]) -> None:
    program = "from streams.settings import Settings; print(Settings().scoring.processes)"
    asked = image.containers.podman(*bare, "--cpus=1", "--entrypoint=python", image.id, "-c", program)
    assert asked.output == "1\n"


@pytest.mark.parametrize(
    ("language", "user"),
    [("nl", "65532:65532"), ("en", "1000680000:0")],
    ids=["as its own user", "as any user of group 0"],
)
def test_without_any_network_it_judges_and_searches_as_the_checkout_does(
    image: Image, bare: list[str], language: str, user: str
) -> None:
    documents = f"documents.{language}.jsonl"
    lines = (SAMPLE / f"answers.{language}.jsonl").read_bytes().splitlines(keepends=True)
    asked = b"".join(lines[:12])
    run = [*bare, f"--user={user}", f"--volume={SAMPLE}:/sample:ro", image.id]
    judged = image.containers.podman(*run, "score", "-", f"--documents=/sample/{documents}", stdin=asked)
    expected = truthgate("score", "-", f"--documents={SAMPLE / documents}", stdin=asked)
    assert _told(judged.output) == _told(expected.stdout)
    assert len(_told(judged.output)) == 12
    question = json.loads(lines[0])["question"]
    found = image.containers.podman(*run, "search", question, f"--documents=/sample/{documents}", "--json")
    assert found.output.splitlines()


async def test_a_hardened_worker_judges_and_turns_healthy(
    image: Image, quick: Settings, topics: Topics, tmp_path: Path, tell: Tell
) -> None:
    answers = sample_answers(2, "one")
    answers[1:] = without_context(answers[1:], "searched")
    await produce(quick.kafka, topics.documents, documents := sample_documents())
    with hold_port() as held:
        served = changed(with_retrieval(quick), web={"port": port_of(held)})
        with ContainerWorker(image.containers, image.id, served, tmp_path) as worker:
            began = time.monotonic()
            await eventually(lambda: worker.get("/readyz")[0] == 200, "it is ready", 120)
            tell(f"image: ready {time.monotonic() - began:.1f} s after the start of its container")
            assert json.loads(worker.python(_RIGHTS).output) == {
                "writable": ["/tmp", "/var/lib/truthgate"],
                "capabilities": ["", "", ""],
                "ids": [65532, 65532, []],
                "first": "tini",
            }
            assert image.containers.podman("healthcheck", "run", worker.name).code == 0
            assert worker.state["Health"]["Status"] == "healthy"
            await until_indexed(worker, len(documents))
            await produce(quick.kafka, topics.answers, [outgoing(each, Codec()) for each in answers])
            ledger = await read_until_settled(quick, answers)
            assert worker.terminate() == 0
    ledger.assert_settled(answers)
    assert sum(map(was_retrieved, ledger.verdicts)) == 1


async def test_sigterm_under_load_loses_nothing_and_ends_within_the_drain_budget(
    image: Image, quick: Settings, tmp_path: Path, tell: Tell
) -> None:
    answers = sample_answers(400, "term")
    with ContainerWorker(image.containers, image.id, quick, tmp_path) as worker:
        worker.wait_ready()
        async with Chatbot(quick, answers, 50) as chatbot:
            await chatbot.sent_at_least(150)
            began = time.monotonic()
            assert await asyncio.to_thread(worker.terminate) == 0
            took = time.monotonic() - began
            worker.start()
            await asyncio.to_thread(worker.wait_ready)
            await chatbot.finished()
            ledger = await read_until_settled(quick, answers)
    ledger.assert_settled(answers)
    await ledger.assert_no_record_repeated(quick)
    assert took < max_settling_seconds(quick)
    tell(
        f"image: ended {took:.1f} s after SIGTERM under 50 answers a second; its limit is "
        f"{max_settling_seconds(quick):.0f} s"
    )


async def test_a_killed_scoring_process_is_replaced_and_leaves_no_zombie(
    image: Image, quick: Settings, tmp_path: Path
) -> None:
    answers = sample_answers(120, "killed")
    with ContainerWorker(image.containers, image.id, quick, tmp_path) as worker:
        worker.wait_ready()
        async with Chatbot(quick, answers, 40) as chatbot:
            await chatbot.sent_at_least(40)
            scoring = max(_tree(worker), key=lambda each: len(each.parents()))
            scoring.kill()
            await chatbot.finished()
            ledger = await read_until_settled(quick, answers)
        assert not [each for each in _tree(worker) if each.status() == psutil.STATUS_ZOMBIE]
        assert "scoring_process_replaced" in worker.log
        assert worker.terminate() == 0
    ledger.assert_settled(answers)


async def test_an_orphan_is_reaped_by_the_first_process(
    image: Image, quick: Settings, tmp_path: Path
) -> None:
    with ContainerWorker(image.containers, image.id, quick, tmp_path) as worker:
        worker.wait_ready()
        before = set(_tree(worker))
        worker.python("import os, time; os.fork() or os.fork() or time.sleep(3)")
        await eventually(lambda: len(set(_tree(worker)) - before) == 1, "its parents are gone")
        (orphan,) = set(_tree(worker)) - before
        assert orphan.ppid() == worker.state["Pid"]
        await eventually(lambda: not orphan.is_running(), "it is reaped", 30)


def test_sigterm_while_it_loads_ends_it_at_once(image: Image, quick: Settings, tmp_path: Path) -> None:
    with ContainerWorker(image.containers, image.id, quick, tmp_path) as worker:
        while not (state := worker.state) or state["Status"] != "running":
            assert worker.running
        began = time.monotonic()
        assert worker.terminate() == 128 + signal.SIGTERM
    assert time.monotonic() - began < 30


def test_a_kafka_out_of_reach_is_one_line_and_exit_code_3(image: Image, bare: list[str]) -> None:
    done = image.containers.podman(
        *bare, f"--env=TRUTHGATE_KAFKA__BOOTSTRAP_SERVERS={NOBODY}", image.id, check=False
    )
    assert done.code == EXIT_UNREACHABLE
    assert json.loads(done.errors.splitlines()[-1])["event"] == "worker_failed"
