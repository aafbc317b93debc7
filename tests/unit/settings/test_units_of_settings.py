"""The units that names of settings tell."""

import re
from collections.abc import Iterator

import pytest

from streams.settings import AlertThreshold, RateWindowSettings, Settings
from streams.settings.base import Section

_NUMBER = re.compile(r"\b(Seconds|int|float)\b")
_WITH_UNIT = re.compile(r"_(seconds|days|bytes|mib)$")
_NEEDS_UNIT = re.compile(r"timeout|interval|limit|wait|after|within|lateness|retention|window|mega|hours")


def _sections() -> Iterator[type[Section]]:
    for field in Settings.model_fields.values():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield field.annotation
    yield from (RateWindowSettings, AlertThreshold)


_NUMBERS = [
    (section.__name__, name, annotation)
    for section in _sections()
    for name, annotation in section.__annotations__.items()
    if _NUMBER.search(annotation)
]


@pytest.mark.parametrize(("section", "name", "annotation"), _NUMBERS)
def test_a_duration_or_a_size_tells_its_unit(section: str, name: str, annotation: str) -> None:
    if annotation == "Seconds":
        assert name.endswith("_seconds"), section
    elif _NEEDS_UNIT.search(name):
        assert _WITH_UNIT.search(name), section
