"""A container is given processors by its cgroup, and the worker starts no more processes than that."""

import os

import pytest

from streams.settings import ScoringSettings
from streams.settings.scoring_settings import usable_processors

MACHINE = 64


@pytest.fixture(autouse=True)
def _large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(MACHINE)), raising=False)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "10000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, MACHINE),
        ({"cpu.max": "9900000 100000\n"}, MACHINE),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, MACHINE),
        ({"cpu/cpu.cfs_quota_us": "300000\n"}, MACHINE),
        ({"cpu.max": "100000 0\n"}, MACHINE),
        ({"cpu.max": "nonsense"}, MACHINE),
        ({}, MACHINE),
    ],
)
def test_what_the_cgroup_allows_counts_and_part_of_one_is_one(files, expected, tmp_path):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    assert usable_processors(tmp_path) == expected


def test_where_the_system_states_no_affinity_all_there_are_count(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert usable_processors(tmp_path) == 7


def test_as_many_scoring_processes_are_started_as_processors_can_be_used(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3}, raising=False)
    assert ScoringSettings().processes <= 2
