"""What was spent outlives the worker; a file that cannot be trusted gives nothing away."""

import asyncio
import json

import pytest
import structlog

from streams.llm.budget import (
    DAY_SECONDS,
    MAX_AMOUNT,
    Budget,
    BudgetAmount,
    BudgetObserver,
    BudgetSpending,
    Limits,
    Priority,
)
from streams.llm.budget_file import (
    BUDGET_FILE_NAME,
    SpendingFileDamaged,
    SpendingWriter,
    open_budget,
    read_spending,
    write_spending,
)
from streams.settings import InvalidSettings
from streams.settings.judge_settings import BudgetSettings
from tests.support.clock import Clock

NOON = 20_000 * DAY_SECONDS + DAY_SECONDS / 2
SETTINGS = BudgetSettings(requests_per_minute=10, requests_per_day=20, tokens_per_day=1_000)
WINDOW = {"number": 1, "requests": 1, "tokens": 1}
BROKEN = [
    b"",
    b"{",
    b"null",
    b"\xff\xfe",
    b'{"version": 1}',
    json.dumps({"version": 2, "minute": WINDOW, "day": WINDOW}),
    json.dumps({"version": 1, "minute": WINDOW, "day": WINDOW | {"requests": -1}}),
    json.dumps({"version": 1, "minute": WINDOW, "day": "spent"}),
]


class Hears(BudgetObserver):
    """Notes what could not be kept."""

    def __init__(self):
        self.errors = []

    def write_failed(self, error):
        self.errors.append(error)


async def spend(directory, number, at=NOON, settings=SETTINGS):
    """Run a worker that asks so often, and return how often it was granted."""
    async with open_budget(settings, directory, wall=Clock(at)) as budget:
        budget.assign([0], 1)
        granted = [budget.reserve(BudgetAmount(1, 10), Priority.FIRST) for _ in range(number)]
    return sum(map(bool, granted))


async def test_what_was_spent_survives_a_restart(tmp_path):
    assert await spend(tmp_path, 7) == 7
    assert await spend(tmp_path, 7) == 3
    assert await spend(tmp_path, 7, NOON + 60) == 7
    assert await spend(tmp_path, 7, NOON + 120) == 3
    assert await spend(tmp_path, 7, NOON + DAY_SECONDS) == 7


async def test_another_worker_may_not_use_the_same_file(tmp_path):
    async with open_budget(SETTINGS, tmp_path):
        with pytest.raises(InvalidSettings, match=r"documents\.store: .* is in use by another worker"):
            await spend(tmp_path, 1)
    assert await spend(tmp_path, 1) == 1


@pytest.mark.parametrize("content", BROKEN)
async def test_a_broken_file_is_set_aside_and_its_day_counts_as_spent(tmp_path, content):
    file = tmp_path / BUDGET_FILE_NAME
    content = content if isinstance(content, bytes) else content.encode()
    file.write_bytes(content)
    with structlog.testing.capture_logs() as lines:
        assert await spend(tmp_path, 1) == 0
    assert (tmp_path / f"{BUDGET_FILE_NAME}.set-aside").read_bytes() == content
    assert lines == [{"event": "judge_budget_set_aside", "log_level": "error", "path": str(file)}]
    assert await spend(tmp_path, 1, NOON + 60) == 0
    assert await spend(tmp_path, 1, NOON + DAY_SECONDS) == 1


async def test_a_file_that_cannot_be_used_is_refused_at_the_start(tmp_path):
    (tmp_path / BUDGET_FILE_NAME).mkdir()
    with pytest.raises(InvalidSettings, match=r"documents\.store: cannot use .*Is a directory"):
        await spend(tmp_path, 1)


async def test_it_is_written_in_the_background(tmp_path):
    wrote, stopping = asyncio.Event(), asyncio.Event()

    class Tells(SpendingWriter):
        async def write(self):
            await super().write()
            wrote.set()

    budget = Budget(Limits.from_settings(SETTINGS), Clock(NOON))
    budget.assign([0], 1)
    keeper = Tells(tmp_path / BUDGET_FILE_NAME, budget, BudgetObserver())
    budget.reserve(BudgetAmount(3, 30), Priority.FIRST)
    task = asyncio.create_task(keeper.run(stopping, 0.001))
    await wrote.wait()
    assert read_spending(tmp_path / BUDGET_FILE_NAME) == budget.spending
    stopping.set()
    await task


async def test_what_is_spent_while_it_is_written_for_the_last_time_but_one_is_written_too(tmp_path):
    stopping = asyncio.Event()

    class Spends(SpendingWriter):
        async def write(self):
            await super().write()
            if not stopping.is_set():
                budget.reserve(BudgetAmount(1, 1), Priority.FIRST)
                stopping.set()

    budget = Budget(Limits.from_settings(SETTINGS), Clock(NOON))
    budget.assign([0], 1)
    budget.reserve(BudgetAmount(3, 30), Priority.FIRST)
    await Spends(tmp_path / BUDGET_FILE_NAME, budget, BudgetObserver()).run(stopping, 0.001)
    assert read_spending(tmp_path / BUDGET_FILE_NAME).day.spent == BudgetAmount(4, 31)


async def test_it_is_written_only_when_something_was_spent(tmp_path):
    budget = Budget(Limits.from_settings(SETTINGS), Clock(NOON))
    keeper = SpendingWriter(tmp_path / BUDGET_FILE_NAME, budget, BudgetObserver())
    await keeper.write()
    assert not (tmp_path / BUDGET_FILE_NAME).exists()


async def test_a_disk_that_fails_is_told_and_tried_again(tmp_path):
    observer = Hears()
    budget = Budget(Limits.from_settings(SETTINGS), Clock(NOON))
    keeper = SpendingWriter(tmp_path / "away" / BUDGET_FILE_NAME, budget, observer)
    budget.assign([0], 1)
    budget.reserve(BudgetAmount(1, 1), Priority.FIRST)
    await keeper.write()
    assert observer.errors == ["ENOENT"]
    (tmp_path / "away").mkdir()
    await keeper.write()
    assert observer.errors == ["ENOENT"]
    assert read_spending(tmp_path / "away" / BUDGET_FILE_NAME) == budget.spending


def test_what_is_written_is_read_back(tmp_path):
    spent = BudgetSpending.at_start(NOON, MAX_AMOUNT).plus(BudgetAmount(1, 2))
    write_spending(tmp_path / "spent", spent)
    assert read_spending(tmp_path / "spent") == spent
    assert [each.name for each in tmp_path.iterdir()] == ["spent"]


def test_what_is_broken_is_not_read(tmp_path):
    (tmp_path / "spent").write_text("[]")
    with pytest.raises(SpendingFileDamaged):
        read_spending(tmp_path / "spent")
