"""The image that tests run, built once from this checkout."""

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.containers import Containers, containers

_CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Image:
    """What was built, and how long that took; with a warm cache a tenth of a cold one's."""

    containers: Containers
    id: str
    build_seconds: float

    @property
    def megabytes(self) -> float:
        """Its size, of all its layers."""
        return self.containers.inspect("image", self.id)["Size"] / 1e6


@pytest.fixture(scope="session")
def image() -> Image:
    """Build the image; skips the test where no container can be run."""
    return build_image()


def build_image() -> Image:
    """Build the image; skips the test where no container can be run."""
    engine, began = containers(), time.monotonic()
    return Image(engine, engine.build(_CHECKOUT), time.monotonic() - began)
