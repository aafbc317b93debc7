"""Images for the node, from the storage that the other tests of containers build them in."""

import tarfile
import tempfile
from pathlib import Path

from tests.support.cluster.node import Node
from tests.support.containers import Containers

_SECONDS = 300.0


def give_image(node: Node, containers: Containers, image: str, name: str) -> None:
    """Give the node an image of the storage under a name of its own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        archive = Path(folder) / "image.tar"
        containers.podman("push", "--quiet", image, f"docker-archive:{archive}:{name}", seconds=_SECONDS)
        node.import_image(archive)


def give_program(node: Node, containers: Containers, program: Path, name: str) -> None:
    """Give the node an image with nothing in it but a program that needs nothing else, and runs."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        packed = Path(folder) / "packed.tar"
        with tarfile.open(packed, "w") as archive:
            archive.add(program, program.name)
        start = f'--change=ENTRYPOINT ["/{program.name}"]'
        image = containers.podman("import", "--quiet", start, str(packed)).output.strip()
    give_image(node, containers, image, name)
