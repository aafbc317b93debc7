"""The settings with what is wrong left at its default, so that more can be said of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from streams.settings.whole import Settings, sources

Place = tuple[int | str, ...]


class _Given(Settings):
    """Settings of arguments alone."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - a name of pydantic's
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take arguments alone."""
        return (init_settings,)


def usable_settings(error: ValidationError) -> Settings | None:
    """Give what was read without what ``error`` complains of, or None where the rest is wrong too."""
    values: dict[str, Any] = {}
    for source in reversed(sources(Settings)):
        values = _over(values, source())
    places = _places(error)
    for some in (places, [place[:1] for place in places]):
        for place in some:
            _drop(values, place)
        try:
            return Settings.model_construct(**dict(_Given(**values)))
        except ValidationError as further:
            error = further
    return None


def _places(error: ValidationError) -> list[Place]:
    return [each["loc"] for each in error.errors(include_url=False, include_context=False)]


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for name, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(name), dict)
        merged[name] = _over(merged[name], value) if both else value
    return merged


def _drop(values: dict[str, Any], place: Iterable[int | str]) -> None:
    """Take away what is at a place, or the least that is there around it, such as a list with its entry."""
    first, *others = map(str, place)
    holder, name = values, first
    for part in others:
        inner = holder.get(name)
        if not isinstance(inner, dict) or part not in inner:
            break
        holder, name = inner, part
    holder.pop(name, None)
