"""Brokers that start in half the time: Java keeps what it has loaded and linked of Kafka in a file.

Some forty brokers start in the tests. The file is made once a machine and lies beside Kafka's jars.
Java itself checks that it fits, and does without where it does not.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streams.embedded import EmbeddedKafka
from streams.embedded.broker import java_path
from streams.embedded.jars import ensure_jars

#: Read by every Java that a test, or a command which a test runs, starts.
_OPTIONS = "JDK_JAVA_OPTIONS"


@pytest.fixture(scope="session", autouse=True)
def quick_java() -> Iterator[None]:
    """Let every Java of the session use the file, which the first session on a machine makes."""
    cache = _cache_file()
    with _locked(cache.with_suffix(".lock")):  # another process of this run may be at it
        if not cache.exists():
            _make(cache)
    if not cache.exists():
        yield
        return
    with java_options(f"-XX:AOTCache={cache} -Xlog:disable"):
        yield


def _cache_file() -> Path:
    """Name the file; it fits one version of Java and one of Kafka, which has a folder of its own."""
    release = Path(java_path()).parents[1] / "release"
    lines = release.read_text("utf-8").splitlines() if release.exists() else []
    version = next((line.split('"')[1] for line in lines if line.startswith("JAVA_VERSION=")), "any")
    return Path(ensure_jars()[0]).parent / f"tests-{version}.aot"


def _make(cache: Path) -> None:
    """Run a broker once under Java's eyes; where it does not come to a file in time there is none."""
    with tempfile.TemporaryDirectory(dir=cache.parent) as folder:
        made = Path(folder) / cache.name
        with EmbeddedKafka(data_dir=Path(folder) / "kafka") as kafka:
            kafka.brokers[0].stop()
            with java_options(f"-XX:AOTCacheOutput={made}"):
                kafka.start_broker(0)
            kafka.brokers[0].stop()
        if made.exists():
            made.replace(cache)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def java_options(options: str) -> Iterator[None]:
    """Have every Java that is started meanwhile take these options too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(_OPTIONS, " ".join(filter(None, [os.environ.get(_OPTIONS), options])))
        yield
