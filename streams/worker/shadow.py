"""A worker in shadow: it judges all answers beside those that decide, by its own settings, without effect."""

from streams.kafka.consumer_groups import shadow_group
from streams.settings import InvalidSettings, Settings, VerdictSettings


def worker_settings(settings: Settings) -> Settings:
    """Return what a worker runs with; a shadow reads in a group of its own, and takes part in nothing.

    The group contains what no ``kafka.consumer_group`` may: a shadow takes no partition from those that
    decide, and its judges' budget is shared by its own workers alone. It counts no rates and judges nothing
    over HTTP. What it publishes is limited where that is opened.
    """
    name = settings.shadow.name
    if not name:
        return settings
    group = shadow_group(settings.kafka.consumer_group, name)
    return (
        settings.with_values("kafka", {"consumer_group": group})
        .with_values("rates", {"enabled": False})
        .with_values("web", {"verdicts": VerdictSettings()})
    )


def refuse_shadow(settings: Settings) -> None:
    """Raise InvalidSettings for a process that would publish as those that decide."""
    if settings.shadow.name:
        raise InvalidSettings(f"shadow.name {settings.shadow.name} is for `truthgate worker` alone")
