"""Stages are timed always, and shown as spans below the answer's where that is traced."""

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler
from opentelemetry.trace import Tracer, get_current_span

from streams.observability.failures import BadAnswer, Stage
from streams.observability.stages import Stages

SECRET = "the customer's own words"


def _tracer(exporter: InMemorySpanExporter, sampler: Sampler = ALWAYS_ON) -> Tracer:
    provider = TracerProvider(sampler, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("test")


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


def test_a_stage_is_observed_and_is_a_span_below_the_current_one(exporter):
    tracer, observed = _tracer(exporter), dict[str, float]()
    stages = Stages(tracer, observed.__setitem__)
    with tracer.start_as_current_span("process"), stages.stage("enrich") as enrich:
        assert get_current_span() is enrich
        with stages.span("search") as search:
            search.set_attribute("found", 3)
    by_name = {span.name: span for span in exporter.get_finished_spans()}
    assert by_name["search"].parent == by_name["enrich"].context
    assert by_name["enrich"].parent == by_name["process"].context
    assert by_name["search"].attributes == {"found": 3}
    assert list(observed) == ["enrich"]
    assert 0 <= observed["enrich"] < 5


@pytest.mark.parametrize("sampler", [None, ALWAYS_OFF, ALWAYS_ON])
def test_without_a_recorded_span_a_stage_is_only_timed(exporter, sampler):
    observed = dict[str, float]()
    stages = Stages(_tracer(exporter, sampler) if sampler else None, observed.__setitem__)
    with stages.stage("score") as span:
        pass
    assert not span.is_recording()
    assert list(observed) == ["score"]
    assert exporter.get_finished_spans() == ()


@pytest.mark.parametrize(
    ("error", "code"),
    [(BadAnswer(Stage.SCORE, "ProcessDied", SECRET), "ProcessDied"), (ValueError(SECRET), "ValueError")],
)
def test_a_failure_is_named_by_its_code_and_never_in_its_own_words(exporter, error, code):
    tracer, observed = _tracer(exporter), dict[str, float]()
    stages = Stages(tracer, observed.__setitem__)
    with tracer.start_as_current_span("process"):
        with pytest.raises(type(error)), stages.stage("score"):
            raise error
        outer = get_current_span()
    failed = exporter.get_finished_spans()[0]
    assert failed.attributes == {"error.type": code}
    assert not failed.status.is_ok
    assert SECRET not in failed.to_json()
    assert not outer.is_recording()
    assert "score" in observed
