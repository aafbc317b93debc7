"""Who says what is exported: the resource of all traces, metrics and events of a worker."""

from __future__ import annotations

from opentelemetry.sdk.resources import OTELResourceDetector, Resource

from scoring.values.version import SCORER_VERSION
from streams.kafka.instance import instance_id
from streams.settings import KafkaSettings


def resource(settings: KafkaSettings) -> Resource:
    """Describe this worker; ``OTEL_SERVICE_NAME`` and ``OTEL_RESOURCE_ATTRIBUTES`` come before ours."""
    own = {
        "service.name": "truthgate",
        "service.version": SCORER_VERSION,
        "service.instance.id": instance_id(settings),
    }
    return Resource.create().merge(Resource(own)).merge(OTELResourceDetector().detect())
