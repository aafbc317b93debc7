"""Deployments that start at the same time do not see each other at once, so a worker looks again."""

from structlog.testing import capture_logs

from streams.settings import KafkaSettings, Settings
from streams.worker import preflight as surroundings


async def test_another_deployment_that_came_meanwhile_is_told_later(monkeypatch):
    async def conflicts(_: KafkaSettings) -> tuple[str, ...]:
        return ("consumer group green reads answers too",)

    monkeypatch.setattr(surroundings, "group_conflicts", conflicts)
    with capture_logs() as lines:
        await surroundings.recheck_groups_later(Settings(), after_seconds=0)
    assert [(line["event"], line["reason"]) for line in lines] == [
        ("another_deployment", "consumer group green reads answers too")
    ]
