"""The units that names of settings tell."""

import re
from collections.abc import Iterator

import pytest

from streams.settings import AlertThreshold, InvalidSettings, RateWindowSettings, Settings, load_settings
from streams.settings.settings_base import SettingsSection

_NUMBER = re.compile(r"\b(Seconds|int|float)\b")
_WITH_UNIT = re.compile(r"_(seconds|days|bytes|mib)$")
_NEEDS_UNIT = re.compile(r"timeout|interval|limit|wait|after|within|lateness|retention|window|mega|hours")


def _sections() -> Iterator[type[SettingsSection]]:
    for field in Settings.model_fields.values():
        if isinstance(field.annotation, type) and issubclass(field.annotation, SettingsSection):
            yield field.annotation
    yield from (RateWindowSettings, AlertThreshold)


_NUMBERS = [
    (section.__name__, name, annotation)
    for section in _sections()
    for name, annotation in section.__annotations__.items()
    if _NUMBER.search(annotation)
]


@pytest.mark.parametrize(("section", "name", "annotation"), _NUMBERS)
def test_a_duration_or_a_size_states_its_unit(section, name, annotation):
    if annotation == "Seconds":
        assert name.endswith("_seconds"), section
    elif _NEEDS_UNIT.search(name):
        assert _WITH_UNIT.search(name), section


@pytest.mark.parametrize(
    ("former", "hint"),
    [
        ("TRUTHGATE_DOCUMENTS__WAIT", "TRUTHGATE_DOCUMENTS__WAIT_TIMEOUT_SECONDS?"),
        ("TRUTHGATE_TRANSLATION__TIMEOUT", "TRUTHGATE_TRANSLATION__TIMEOUT_SECONDS?"),
        ("TRUTHGATE_TOPICS__RETENTION_HOURS", "TRUTHGATE_TOPICS__RETENTION_DAYS?"),
    ],
)
def test_who_leaves_the_unit_out_is_reported_the_whole_name(former, hint, monkeypatch):
    monkeypatch.setenv(former, "1")
    with pytest.raises(InvalidSettings, match=re.escape(f"did you mean {hint}")):
        load_settings()


def test_who_misspells_a_name_in_a_file_is_reported_the_one_for_a_file(tmp_path):
    config = tmp_path / "truthgate.toml"
    config.write_text("[policy]\nblok_below = 1\n")
    with pytest.raises(InvalidSettings, match=re.escape("did you mean policy.block_below?")):
        load_settings(config)


def test_a_name_that_is_like_no_other_of_its_section_gives_no_hint(monkeypatch):
    monkeypatch.setenv("TRUTHGATE_SCORING__PREPARED", "1")
    with pytest.raises(InvalidSettings) as refused:
        load_settings()
    assert "TRUTHGATE_SCORING__PREPARED" in str(refused.value)
    assert "did you mean" not in str(refused.value)
