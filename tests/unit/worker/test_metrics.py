"""What is counted and measured is shown alike to Prometheus and by OTLP, and never holds up the work."""

import math
import string
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
import structlog
from faust.types import TP
from opentelemetry.metrics import get_meter_provider
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from streams.observability.health import Health, PartitionProgress
from streams.observability.instruments import OTHER, Instruments, MetricDefinition, MetricLabel
from streams.rates.alert_thresholds import ThresholdState
from streams.rates.verdict_counts import ClosedWindow, RateGroup
from streams.rates.windows import Tally, WindowSpec
from streams.scorers.pool import ScoringPool
from streams.settings import AlertThreshold, InvalidSettings, ObjectiveSettings, Settings, TelemetrySettings
from streams.worker.worker_metrics import WorkerMetrics, open_metrics
from tests.support.clock import Clock
from tests.support.otlp import OtlpReceiver, attributes, hanging_collector
from tests.support.verdicts import any_verdict

NOW = datetime(2026, 3, 2, tzinfo=UTC)
VERDICT = any_verdict(
    decision="blocked",
    score=1.5,
    language="nl",
    context_source="by_id",
    degraded=("context_missing", "documents_stale"),
    produced_at=NOW,
    scored_at=NOW,
)
TALLY = Tally(answers=50, scored=40, hallucinated=10, faithfulness_answers=20, faithfulness_sum=150_000)
CLOSED = ClosedWindow(WindowSpec(300_000, 60_000), 0, {RateGroup("binary", "nl"): TALLY})
THRESHOLD = AlertThreshold(
    name="untrue", window_seconds=3600, rate=0.2, minimum_answers=30, severity="critical"
)
ALERT = ThresholdState(THRESHOLD, TALLY, firing=True)

#: A sample by its name and labels, as Prometheus reads it.
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(metrics: WorkerMetrics | Instruments) -> Samples:
    families = text_string_to_metric_families(generate_latest(metrics.registry).decode())
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def shown(metrics: WorkerMetrics | Instruments, name: str, **labels: str) -> float | None:
    return samples(metrics).get((name, frozenset(labels.items())))


def names(metrics: WorkerMetrics | Instruments) -> set[str]:
    return {name for name, _ in samples(metrics)}


@pytest.fixture
def instruments() -> Instruments:
    made = Instruments()
    made.begin_section("Test")
    return made


def test_a_verdict_is_counted_by_all_that_it_says():
    metrics = WorkerMetrics()
    metrics.answers.count_verdict(VERDICT, time.time() - 3)
    metrics.answers.count_verdict(replace(VERDICT, score=None, language=None, degraded=()), time.time() + 60)
    counted = {"decision": "blocked", "message_type": "binary"}
    assert shown(metrics, "truthgate_verdicts_total", language="nl", **counted) == 1
    assert shown(metrics, "truthgate_verdicts_total", language="und", **counted) == 1
    assert shown(metrics, "truthgate_contexts_total", source="by_id") == 2
    assert shown(metrics, "truthgate_degraded_total", code="documents_stale") == 1
    assert shown(metrics, "truthgate_score_bucket", message_type="binary", le="1.5") == 1
    assert shown(metrics, "truthgate_score_count", message_type="binary") == 1
    # One took three seconds; the other is from a clock that is ahead, and took none.
    assert shown(metrics, "truthgate_verdict_latency_seconds_bucket", le="2.5") == 1
    assert shown(metrics, "truthgate_verdict_latency_seconds_bucket", le="5.0") == 2
    assert shown(metrics, "truthgate_verdict_latency_seconds_sum") == pytest.approx(3, abs=0.5)


def test_verdicts_are_told_by_the_models_that_are_set_and_no_others():
    metrics = WorkerMetrics(models=("gpt-7",))
    for model in ("gpt-7", "gpt-7", "somebody's own", "third-model", None, ""):
        metrics.answers.count_verdict(replace(VERDICT, model=model, metadata={"tenant": "secret"}))
    counted = {
        name: value
        for (metric, labels), value in samples(metrics).items()
        if metric == "truthgate_verdicts_by_model_total" and value
        for name in [dict(labels)["model"]]
    }
    assert counted == {"gpt-7": 2, "other": 2, "none": 2}
    page = generate_latest(metrics.registry).decode()
    assert not [word for word in ("somebody", "third-model", "secret") if word in page]


def test_languages_that_are_not_named_are_counted_and_rated_together():
    metrics = WorkerMetrics(languages=("de", "en", "nl"))
    invented = [f"{a}{b}" for a in "pqrst" for b in string.ascii_lowercase]
    for language in ("de", *invented):
        metrics.answers.count_verdict(replace(VERDICT, language=language))
    tallies = {RateGroup("binary", language): TALLY for language in ("nl", "", *invented[:3])}
    metrics.rates.set_rates([replace(CLOSED, tallies=tallies)])
    counted = {"decision": "blocked", "message_type": "binary"}
    assert shown(metrics, "truthgate_verdicts_total", language="de", **counted) == 1
    assert shown(metrics, "truthgate_verdicts_total", language="other", **counted) == len(invented)
    scored = {
        dict(labels)["language"]: value
        for (name, labels), value in samples(metrics).items()
        if name == "truthgate_hallucination_rate_scored_answers"
    }
    assert scored == {"nl": TALLY.scored, "und": TALLY.scored, "other": 3 * TALLY.scored}


def test_without_models_nothing_is_told_by_model():
    metrics = WorkerMetrics()
    metrics.answers.count_verdict(replace(VERDICT, model="gpt-7"))
    assert "gpt-7" not in generate_latest(metrics.registry).decode()


def test_one_bucket_of_the_latency_ends_exactly_at_the_objective():
    metrics = WorkerMetrics(verdict_within=7.5)
    metrics.answers.count_verdict(VERDICT, time.time() - 7)
    assert shown(metrics, "truthgate_verdict_latency_seconds_bucket", le="5.0") == 0
    assert shown(metrics, "truthgate_verdict_latency_seconds_bucket", le="7.5") == 1


def test_what_can_be_counted_is_there_before_the_first_of_it():
    before = samples(WorkerMetrics())
    for name, labels in (
        ("truthgate_answers_total", {}),
        ("truthgate_verdicts_total", {"decision": "blocked", "message_type": "binary", "language": "nl"}),
        ("truthgate_dead_letters_total", {"stage": "decode", "error_type": "truncated"}),
        ("truthgate_dead_letters_total", {"stage": "enrich", "error_type": OTHER}),
        ("truthgate_degraded_total", {"code": "scoring_timeout"}),
        ("truthgate_rates_verdicts_total", {"outcome": "late"}),
        ("truthgate_translations_total", {"outcome": "breaker_open"}),
        ("truthgate_translation_breaker", {"state": "open"}),
    ):
        assert before[name, frozenset(labels.items())] == 0, name


def test_partitions_that_moved_away_are_shown_no_more():
    metrics = WorkerMetrics()
    metrics.answers.watch_progress(lambda: {0: (5, 1.5), 1: (0, 0.0)}, dict)
    assert shown(metrics, "truthgate_consumer_lag", partition="0") == 5
    assert shown(metrics, "truthgate_commit_age_seconds", partition="0") == 1.5
    metrics.answers.watch_progress(lambda: {1: (2, 0.0)}, lambda: {0: (5, 1.5)})
    assert shown(metrics, "truthgate_consumer_lag", partition="0") is None
    assert shown(metrics, "truthgate_consumer_lag", partition="1") == 2
    assert shown(metrics, "truthgate_group_lag", partition="0") == 5
    assert shown(metrics, "truthgate_group_commit_age_seconds", partition="0") == 1.5


def test_silence_of_kafka_is_shown_and_what_it_makes_unknown_is_not():
    clock, metrics = Clock(), WorkerMetrics()
    health = Health(180, 10, clock)
    metrics.watch(health)
    health.set_waiting_for(None)
    assert shown(metrics, "truthgate_kafka_up") is None, "it was not asked yet"
    assert shown(metrics, "truthgate_kafka_silence_seconds") is None
    health.observe({TP("answers", 3): PartitionProgress(committed=7, lag=5)})
    clock.now += 10
    assert shown(metrics, "truthgate_ready") == shown(metrics, "truthgate_kafka_up") == 1
    assert shown(metrics, "truthgate_kafka_silence_seconds") == 10
    assert shown(metrics, "truthgate_consumer_lag", partition="3") == 5
    assert shown(metrics, "truthgate_commit_age_seconds", partition="3") == 10
    clock.now += 1
    assert shown(metrics, "truthgate_ready") == shown(metrics, "truthgate_kafka_up") == 0
    assert shown(metrics, "truthgate_kafka_silence_seconds") == 11
    assert shown(metrics, "truthgate_consumer_lag", partition="3") is None
    assert shown(metrics, "truthgate_commit_age_seconds", partition="3") is None


def test_only_a_leader_shows_rates_and_alerts():
    metrics = WorkerMetrics()
    metrics.rates.leader.set(1)
    metrics.rates.watch(lambda: 2.5, lambda: 7)
    metrics.rates.set_rates([CLOSED])
    metrics.rates.set_alerts([ALERT])
    of_rate = {"message_type": "binary", "language": "nl", "window": "5m"}
    of_alert = {
        "alert": "untrue",
        "message_type": "all",
        "language": "all",
        "window": "1h",
        "severity": "critical",
    }
    low, high = TALLY.bounds
    led = {
        "truthgate_hallucination_rate": (of_rate, 0.25),
        "truthgate_hallucination_rate_lower_bound": (of_rate, low),
        "truthgate_hallucination_rate_upper_bound": (of_rate, high),
        "truthgate_hallucination_rate_scored_answers": (of_rate, 40),
        "truthgate_faithfulness": (of_rate, 0.75),
        "truthgate_faithfulness_answers": (of_rate, 20),
        "truthgate_alert_threshold": (of_alert, 0.2),
        "truthgate_alert_rate_lower_bound": (of_alert, low),
        "truthgate_alert_scored_answers": (of_alert, 40),
        "truthgate_alert_minimum_answers": (of_alert, 30),
        "truthgate_alert_firing": (of_alert, 1),
        "truthgate_rates_watermark_age_seconds": ({}, 2.5),
        "truthgate_rates_lag": ({}, 7),
        "truthgate_rates_leader": ({}, 1),
    }
    assert {name: shown(metrics, name, **labels) for name, (labels, _) in led.items()} == {
        name: value for name, (_, value) in led.items()
    }
    metrics.rates.step_down()
    assert shown(metrics, "truthgate_rates_leader") == 0
    assert names(metrics).isdisjoint(led.keys() - {"truthgate_rates_leader"})


def test_a_window_in_which_no_claims_were_checked_shows_no_faithfulness():
    metrics = WorkerMetrics()
    unchecked = replace(TALLY, faithfulness_answers=0, faithfulness_sum=0)
    metrics.rates.set_rates([replace(CLOSED, tallies={RateGroup("binary", "nl"): unchecked})])
    assert "truthgate_faithfulness" not in names(metrics)
    of_rate = {"message_type": "binary", "language": "nl", "window": "5m"}
    assert shown(metrics, "truthgate_faithfulness_answers", **of_rate) == 0


def test_where_nothing_was_scored_there_is_no_rate_and_the_bounds_say_that_nothing_is_known():
    metrics = WorkerMetrics()
    metrics.rates.set_rates([replace(CLOSED, tallies={RateGroup("binary", "nl"): Tally(answers=3)})])
    of_rate = {"message_type": "binary", "language": "nl", "window": "5m"}
    rate = {
        name: shown(metrics, f"truthgate_hallucination_{name}", **of_rate)
        for name in ("rate", "rate_lower_bound", "rate_upper_bound", "rate_scored_answers")
    }
    assert rate == {
        "rate": None,
        "rate_lower_bound": 0,
        "rate_upper_bound": 1,
        "rate_scored_answers": 0,
    }


@dataclass
class Pool:
    processes: int = 4
    busy: int = 3
    waiting: int = 12
    deaths: int = 2
    resident_memory: int = 400_000_000


def test_a_pool_shows_whether_it_is_full():
    metrics, pool = WorkerMetrics(), Pool()
    assert shown(metrics, "truthgate_scoring_processes") == 0
    metrics.scoring.watch(cast("ScoringPool", pool))
    pool.busy = 4
    for name, value in (("processes", 4), ("processes_busy", 4), ("queue", 12)):
        assert shown(metrics, f"truthgate_scoring_{name}") == value
    assert shown(metrics, "truthgate_scoring_processes_memory_bytes") == 400_000_000
    assert shown(metrics, "truthgate_scoring_process_deaths_total") == 2


def test_a_process_shows_itself_as_prometheus_clients_do():
    found = samples(WorkerMetrics())
    assert found["process_cpu_seconds_total", frozenset()] > 0
    assert found["process_resident_memory_bytes", frozenset()] > 1e6
    assert time.time() - 86_400 < found["process_start_time_seconds", frozenset()] <= time.time()
    (build,) = [dict(labels) for name, labels in found if name == "truthgate_build_info"]
    assert build.keys() == {"version", "python"}


def test_two_workers_in_one_process_share_nothing():
    provider = get_meter_provider()
    one, two = WorkerMetrics(), WorkerMetrics()
    one.answers.received.add()
    one.answers.observe_stage("decode", 0.1)
    assert shown(two, "truthgate_answers_total") == 0
    assert "truthgate_stage_duration_seconds_count" not in names(two)
    assert get_meter_provider() is provider


def test_a_flood_of_labels_is_counted_as_others(instruments):
    counter = instruments.counter(
        "truthgate.floods", "", "", MetricLabel("who"), MetricLabel("what"), at_zero=[]
    )
    for number in range(1_100):
        counter.add(str(number), "x")
    counter.add("7", "x")
    assert shown(instruments, "truthgate_floods_total", who="7", what="x") == 2
    assert shown(instruments, "truthgate_floods_total", who=OTHER, what=OTHER) == 100


def test_counting_from_many_threads_loses_nothing(instruments):
    counter = instruments.counter("truthgate.hits", "", "", MetricLabel("kind", ("a",)))

    def count() -> None:
        for _ in range(2_000):
            counter.add("a")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shown(instruments, "truthgate_hits_total", kind="a") == 8_000


def test_what_cannot_be_read_is_left_out_and_the_rest_is_shown(instruments):
    def fails() -> float:
        raise LookupError

    instruments.gauge("truthgate.broken", "", "").set_function(fails)
    instruments.gauge("truthgate.absent", "", "").set_function(lambda: None)
    instruments.gauge("truthgate.unknown", "", "").set_function(lambda: math.nan)
    instruments.gauge("truthgate.whole", "", "").set_function(lambda: 3)
    assert shown(instruments, "truthgate_whole") == 3
    assert names(instruments) == {"target_info", "truthgate_whole"}


def _settings(endpoint: str) -> Settings:
    return Settings(
        telemetry=TelemetrySettings(otlp_endpoint=endpoint),
        objectives=ObjectiveSettings(),
    )


def _points(metric: Metric) -> Iterator[tuple[dict[str, Any], float]]:
    data = getattr(metric, metric.WhichOneof("data"))
    for point in data.data_points:
        value = point.count if metric.HasField("histogram") else point.as_double
        yield attributes(point.attributes), value


def _as_prometheus(one: MetricDefinition, metric: Metric) -> Samples:
    name = f"{one.prometheus}_count" if one.kind == "histogram" else one.prometheus
    return {
        (name, frozenset((key.replace(".", "_"), value) for key, value in labels.items())): count
        for labels, count in _points(metric)
    }


def _is_comparable(name: str) -> bool:
    moving = name.startswith("process_")  # between two readings
    return not (moving or name.endswith(("_bucket", "_sum")) or name == "target_info")


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_otlp_carries_what_prometheus_reads(protocol):
    with OtlpReceiver() as collector:
        settings = _settings(getattr(collector, protocol))
        with open_metrics(settings) as metrics:
            metrics.answers.count_verdict(VERDICT, time.time() - 3)
            metrics.answers.count_dead_letter("decode", "truncated")
            metrics.answers.observe_stage("decode", 0.001)
            metrics.answers.watch_progress(lambda: {2: (5, 1.5)}, lambda: {2: (5, 1.5), 3: (1, 0.5)})
            metrics.rates.set_alerts([ALERT])
            expected = {key: value for key, value in samples(metrics).items() if _is_comparable(key[0])}
        definitions = {one.name: one for section in metrics.sections.values() for one in section}
        arrived: Samples = {}
        for metric in collector.metrics:
            arrived |= _as_prometheus(definitions[metric.name], metric)
        (group, *_) = collector._groups("resource_metrics")
    assert {key: value for key, value in arrived.items() if _is_comparable(key[0])} == expected
    assert attributes(group.resource.attributes)["service.name"] == "truthgate"
    latency = next(one for one in collector.metrics if one.name == "truthgate.verdict_latency")
    assert 5.0 in latency.histogram.data_points[0].explicit_bounds


def test_metrics_are_exported_again_and_again(monkeypatch):
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "50")
    with OtlpReceiver() as collector, open_metrics(_settings(collector.grpc)) as metrics:
        deadline = time.monotonic() + 10
        while len([one for one in collector.metrics if one.name == "truthgate.answers"]) < 3:
            metrics.answers.received.add()
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.mark.parametrize(
    ("interval", "exporter", "is_exported"),
    [("20", "otlp", True), ("20", "none", False), (None, "otlp", False)],
)
def test_the_variables_of_the_sdk_count(interval, exporter, is_exported, monkeypatch):
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", exporter)
    if interval:
        monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", interval)
    with OtlpReceiver() as collector, open_metrics(_settings(collector.http)):
        end = time.monotonic() + (10 if is_exported else 0.3)
        while not collector.metrics and time.monotonic() < end:
            time.sleep(0.01)
        assert bool(collector.metrics) is is_exported


@pytest.mark.parametrize(
    ("endpoint", "variable", "value"),
    [
        ("http://collector.invalid:4317", "OTEL_EXPORTER_OTLP_TIMEOUT", "abc"),
        ("http://collector.invalid:4317", "OTEL_EXPORTER_OTLP_COMPRESSION", "zz"),
        (None, "OTEL_METRICS_EXEMPLAR_FILTER", "zz"),
    ],
)
def test_a_variable_that_the_sdk_refuses_is_a_wrong_setting(endpoint, variable, value, monkeypatch):
    monkeypatch.setenv(variable, value)
    settings = Settings(telemetry=TelemetrySettings(otlp_endpoint=endpoint))
    with pytest.raises(InvalidSettings, match=rf"^telemetry: .*{variable}\)$"), open_metrics(settings):
        pass


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_a_dead_collector_holds_up_nothing_but_the_end_and_that_for_seconds(protocol, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.2")
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "50")
    with hanging_collector() as endpoint, structlog.testing.capture_logs() as lines:
        with open_metrics(_settings(endpoint)) as metrics:
            began = time.monotonic()
            while not lines and time.monotonic() < began + 10:
                metrics.answers.received.add()
                time.sleep(0.001)
            for _ in range(1_000):
                metrics.answers.observe_stage("decode", 0.1)
            assert shown(metrics, "truthgate_answers_total") is not None
            ending = time.monotonic()
        assert time.monotonic() - ending < 15
    assert [line["event"] for line in lines] == ["telemetry_not_exported"]
