"""Update ``jars.lock``: ``python -m streams.embedded.lock_jars`` after changing a version below.

Resolves the dependencies of Apache Kafka and writes the SHA-256 of each jar as downloaded now; review the
difference before committing it. Do not add a log4j coordinate: the resolver would then choose an old
kafka-clients; slf4j-simple is the logger instead.
"""

import hashlib
import tempfile
from dataclasses import replace
from pathlib import Path

from jgo.maven import Artifact, MavenContext
from jgo.parse import Coordinate

from streams.embedded.jars import KAFKA_VERSION, LOCK_FILE

_COORDINATES = (f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}", "org.slf4j:slf4j-simple:1.7.36")
_HEADER = (
    f"# Apache Kafka {KAFKA_VERSION} and what it needs. Written by: python -m streams.embedded.lock_jars\n"
)


def resolve(repository: Path) -> list[Artifact]:
    """Return every jar that Kafka needs at run time; POMs are stored in ``repository``."""
    context = MavenContext(repo_cache=repository)
    wanted = [
        context.create_dependency(replace(Coordinate.parse(coordinate), scope="compile"))
        for coordinate in _COORDINATES
    ]
    inputs, transitive = context.resolver.resolve(wanted)
    needed = [dependency for dependency in transitive if dependency.scope in ("compile", "runtime")]
    return [dependency.artifact for dependency in (*inputs, *needed)]


def line(artifact: Artifact) -> str:
    """Download one jar and return its line of the lock file."""
    digest = hashlib.sha256(artifact.resolve().read_bytes()).hexdigest()
    return f"{digest}  {artifact.groupId}:{artifact.artifactId}:{artifact.version}\n"


def main() -> None:
    """Write the lock file."""
    with tempfile.TemporaryDirectory() as repository:
        artifacts = {str(artifact): artifact for artifact in resolve(Path(repository))}
        lines = sorted((line(artifact) for artifact in artifacts.values()), key=lambda text: text.split()[1])
    LOCK_FILE.write_text(_HEADER + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
