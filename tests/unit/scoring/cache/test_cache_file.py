"""Whatever happens to the file, a call finds the stored result or nothing, and reports why."""

import multiprocessing
import os
import random
import resource
import sqlite3
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest

from scoring.cache.cache_file import PARSE_CACHE_ID, TOUCH_INTERVAL_SECONDS, TRANSLATION_CACHE_ID, CacheFile
from tests.support.clock import Clock

NOISE = random.Random(1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "opened.sqlite3"


@contextmanager
def opened(path, mib=10, clock=None, retry_seconds=0.0, application_id=PARSE_CACHE_ID):
    with closing(CacheFile(path, application_id, mib, clock or Clock(), retry_seconds)) as file:
        yield file


def key(number):
    return number.to_bytes(20, "big")


def blob(number):
    return key(number) * 150


def filled(path, count=300):
    with opened(path) as file:
        assert file.put({key(n): blob(n) for n in range(count)})


def found(file, number):
    return file.find([key(number)]).get(key(number))


def works(file):
    return file.put({key(7): blob(7)}) and found(file, 7) == blob(7)


def test_a_result_is_found_by_the_next_process(path):
    filled(path)
    with opened(path) as file:
        assert [found(file, n) for n in (0, 299, 300)] == [blob(0), blob(299), None]
        assert file.find(map(key, range(298, 302))) == {key(n): blob(n) for n in (298, 299)}
        assert file.take_failures() == ()


def test_only_the_owner_may_read_the_file_and_its_journals(path):
    filled(path)
    path.chmod(0o644)
    with opened(path) as file:
        file.put({key(1): blob(1)})
        files = list(path.parent.iterdir())
        assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}
        suffixes = "", "-wal", "-shm", ".lock"
        assert {each.name for each in files} == {f"{path.name}{suffix}" for suffix in suffixes}


def test_the_file_keeps_its_bound_and_the_most_recently_used_results(path):
    clock = Clock()
    with opened(path, mib=1, clock=clock) as file:
        for n in range(500):
            clock.now += 1
            file.put({key(n): blob(n) * 4})
            file.touch([key(0)])
        assert found(file, 0)
        assert found(file, 499)
        assert found(file, 1) is None
        kept_numbers = [n for n in range(1, 500) if found(file, n)]
        assert kept_numbers == list(range(500 - len(kept_numbers), 500))
        assert len(kept_numbers) * len(blob(0)) * 4 > 500_000
    assert path.stat().st_size < 1_300_000


def all_bytes(path):
    return sum(each.stat().st_size for each in path.parent.iterdir() if each.suffix != ".sqlite3-shm")


def test_the_journal_counts_towards_the_bound(path):
    with opened(path, mib=1) as file:
        for n in range(200):
            file.put({key(n * 10 + m): blob(n) * 4 for m in range(10)})
            assert all_bytes(path) < 1_700_000
        assert file.take_failures() == ()


@pytest.mark.parametrize("size", [132_000, 30_000_000])
def test_a_result_that_is_too_large_is_not_stored_and_evicts_no_other(path, size):
    with opened(path, mib=1) as file:
        assert file.put({key(1): blob(1)})
        assert file.put({key(2): bytes(size), key(3): blob(3)})
        assert file.take_failures() == ("TOO_LARGE",)
        assert [found(file, n) for n in (1, 2, 3)] == [blob(1), None, blob(3)]
    assert all_bytes(path) < 300_000


def test_too_many_results_are_stored_as_far_as_they_fit(path):
    with opened(path, mib=1) as file:
        assert file.put({key(n): bytes(100_000) for n in range(30)})
        assert set(file.take_failures()) == {"TOO_LARGE"}
        assert sum(found(file, n) is not None for n in range(30)) == 10
        assert file.put({key(n): blob(n) for n in range(30, 60)})
        assert all_bytes(path) < 2_500_000


def test_a_smaller_bound_is_reached_step_by_step(path):
    filled(path, 1_000)
    with opened(path, mib=1) as file:
        for n in range(2_000, 2_100):
            began = time.monotonic()
            assert file.put({key(n): blob(n)})
            assert time.monotonic() - began < 10
        assert found(file, 2_099)
        assert sum(found(file, n) is not None for n in range(1_000)) < 400


def test_touch_returns_whether_a_result_is_stored(path):
    with opened(path) as file:
        file.put({key(1): blob(1)})
        assert (file.touch([key(1)]), file.touch([key(2)])) == (True, False)


def last_used(path):
    with closing(sqlite3.connect(path)) as database:
        return [used_at for (used_at,) in database.execute("SELECT used_at FROM results ORDER BY used_at")]


def test_use_is_recorded_at_most_once_an_interval(path):
    clock = Clock(start := 1_000_000.0)
    with opened(path, clock=clock) as file:
        file.put({key(1): blob(1), key(2): blob(2)})
        for seconds, expected in ((TOUCH_INTERVAL_SECONDS, start), (1, start + TOUCH_INTERVAL_SECONDS + 1)):
            clock.now += seconds
            assert found(file, 1)
            assert last_used(path) == [start, expected]
        file.touch([key(2)])
        assert last_used(path) == [clock.now, clock.now]


def test_a_closed_file_finds_and_stores_nothing(path):
    file = CacheFile(path, PARSE_CACHE_ID, 1)
    file.close()
    file.close()
    assert not file.put({key(1): blob(1)})
    assert found(file, 1) is None
    assert file.take_failures() == ()


def overwrite(path, offset, content):
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(content)


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def other_layout(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")


DAMAGES = {
    "nothing left": lambda path: os.truncate(path, 0),
    "cut short": cut,
    "zeros": lambda path: path.write_bytes(bytes(100_000)),
    "noise behind the header": lambda path: overwrite(path, 100, NOISE.randbytes(path.stat().st_size - 100)),
    "another layout": other_layout,
    "not there": lambda path: path.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_is_rebuilt(path, damage):
    filled(path)
    damage(path)
    with opened(path) as file:
        assert_never_wrong(file, range(300))


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_file_that_is_damaged_while_open_is_rebuilt(path, damage):
    filled(path, 2_000)
    with opened(path) as file, opened(path) as neighbour:
        assert found(file, 1) == found(neighbour, 1) == blob(1)
        damage(path)
        for user in (file, neighbour):
            assert_never_wrong(user, range(0, 2_000, 40))
    with opened(path) as file:
        assert_never_wrong(file, ())


def assert_never_wrong(file, numbers):
    """Check that a damaged file returns no wrong result, and works again after a few attempts."""
    assert all(found(file, n) in (None, blob(n)) for n in numbers)
    assert any(works(file) for _ in range(5))


@pytest.mark.parametrize("seed", range(20))
def test_a_flipped_bit_is_a_miss_and_never_another_result(path, seed):
    filled(path)
    chance = random.Random(seed)
    for _ in range(20):
        overwrite(path, chance.randrange(100, path.stat().st_size), chance.randbytes(1))
    with opened(path) as file:
        assert_never_wrong(file, range(300))


def sqlite_of_somebody(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE orders (id)")


def foreign(content):
    """Make a file with the mode of another application."""

    def make(path):
        path.write_bytes(content)
        path.chmod(0o644)

    return make


def of_translations(path):
    with opened(path, application_id=TRANSLATION_CACHE_ID) as file:
        file.put({key(1): blob(1)})


FOREIGN = {
    "empty, with another mode": foreign(b""),
    "zeros, with another mode": foreign(bytes(5_000)),
    "text": lambda path: path.write_text("My notes.\n" * 100),
    "a database": sqlite_of_somebody,
    "ours, of something else": of_translations,
}


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_foreign_file_is_not_touched(path, make):
    path.parent.mkdir()
    make(path)
    before = path.read_bytes(), path.stat().st_mode
    with opened(path) as file:
        assert not works(file)
        assert set(file.take_failures()) == {"FOREIGN"}
        assert file.take_failures() == ()
    assert (path.read_bytes(), path.stat().st_mode) == before


@pytest.mark.parametrize("make", [lambda p: p.touch(0o600), foreign(b""), filled, lambda _: None])
def test_a_link_is_not_followed(path, make):
    path.parent.mkdir()
    target = path.with_name("target")
    make(target)
    before = target.exists() and (target.read_bytes(), target.stat().st_mode)
    path.symlink_to(target)
    with opened(path) as file:
        assert not works(file)
        assert set(file.take_failures()) == {"FOREIGN"}
    assert (target.exists() and (target.read_bytes(), target.stat().st_mode)) == before
    assert path.is_symlink()


@pytest.mark.parametrize(
    ("obstruct", "failure"),
    [
        (lambda path: path.with_name(f"{path.name}.lock").symlink_to(path.with_name("target")), "ELOOP"),
        (lambda path: os.mkfifo(path, 0o600), "FOREIGN"),
        (lambda path: path.mkdir(), "EISDIR"),
    ],
    ids=["link for the lock", "pipe for the file", "folder for the file"],
)
def test_an_obstructed_path_is_reported_and_not_waited_for(path, obstruct, failure):
    path.parent.mkdir()
    obstruct(path)
    with opened(path) as file:
        assert not works(file)
        assert set(file.take_failures()) == {failure}
    assert not path.with_name("target").exists()


def test_a_folder_that_cannot_be_created_is_reported_once_per_attempt(tmp_path):
    (tmp_path / "file").touch()
    with opened(tmp_path / "file" / "opened.sqlite3", retry_seconds=60) as file:
        assert [works(file) for _ in range(5)] == [False] * 5
        assert file.take_failures() == ("EEXIST",)


def test_a_locked_file_costs_little_time_and_is_read_meanwhile(path):
    filled(path)
    with (
        opened(path, retry_seconds=60) as file,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        assert not any(file.put({key(n): blob(n)}) for n in range(1_000, 1_100))
        assert time.monotonic() - began < 10
        assert file.take_failures() == ("SQLITE_BUSY",)
        assert found(file, 1) == blob(1)
        with opened(path) as impatient:
            assert not works(impatient)
            other.execute("ROLLBACK")
            assert works(impatient)


def test_a_full_disk_stores_nothing_and_loses_nothing(path):
    filled(path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with opened(path) as file:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, hard))
            assert not file.put({key(n): NOISE.randbytes(3_000) for n in range(1_000, 4_000)})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert file.take_failures()
        assert found(file, 1) == blob(1)
        assert found(file, 1_000) is None
        assert works(file)


def test_a_removed_file_is_created_again(path):
    with opened(path) as file:
        assert works(file)
        path.unlink()
        assert works(file)
        assert file.take_failures() == ("REPLACED",)
        assert path.exists()


def use(path, first, results):
    with opened(path) as file:
        for n in range(first, first + 300):
            file.put({key(n): blob(n)})
        results.put((sum(found(file, n) == blob(n) for n in range(first, first + 300)), file.take_failures()))


def test_several_processes_share_the_file_from_its_first_moment(path):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    processes = [context.Process(target=use, args=(path, n * 1_000, results)) for n in range(3)]
    for process in processes:
        process.start()
    for there, failures in [results.get(timeout=60) for _ in processes]:
        assert there == 300 - len(failures) > 0  # who had to wait too long for the others opened nothing
        assert set(failures) <= {"SQLITE_BUSY"}
    for process in processes:
        process.join(60)
    with opened(path) as file:
        assert all(any(found(file, n * 1_000 + m) for m in range(300)) for n in range(3))


def write_without_end(path, started):
    with opened(path, mib=1) as file:
        for n in range(10**9):
            file.put({key(n): blob(n)})
            started.set()


def test_a_process_that_is_killed_in_the_middle_of_a_write_leaves_a_file_that_works(path):
    context, chance = multiprocessing.get_context("spawn"), random.Random(1)
    for _ in range(2):
        started = context.Event()
        process = context.Process(target=write_without_end, args=(path, started))
        process.start()
        assert started.wait(60)
        time.sleep(chance.random() / 10)  # anywhere in its work
        process.kill()
        process.join(60)
        with opened(path) as file:
            assert works(file)
            assert all(found(file, n) in (None, blob(n)) for n in range(500))
            assert file.take_failures() == ()


def test_the_header_has_the_application_id(path):
    filled(path)
    assert path.read_bytes()[68:72] == PARSE_CACHE_ID.to_bytes(4, "big")


def test_several_threads_may_use_a_file(path):
    with opened(path) as file, ThreadPoolExecutor(8) as threads:
        numbers = range(400)
        assert all(threads.map(lambda n: file.put({key(n): blob(n)}), numbers))
        assert list(threads.map(lambda n: found(file, n), numbers)) == [blob(n) for n in numbers]
        assert file.take_failures() == ()
